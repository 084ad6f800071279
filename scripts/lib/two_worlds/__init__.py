"""What `scripts/compare/two_worlds` is made of.

`corpora` makes packages and repositories, of which some are private; `service` decides who may see what; `requests`
makes up requests; `worlds` starts a server for each world and asks it; `masks` removes what may differ from answers;
`timing` compares how long answers take; `foreign` asks for what belongs to other callers.
"""

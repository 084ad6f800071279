int needle; /* of a package that was removed */

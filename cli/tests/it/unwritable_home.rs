//! Searching an index needs no directory of its own.

use crate::home::Home;
use crate::process::finish;

#[test]
fn searches_without_a_writable_home() {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    home.write("file", "no directory can be below this\n");
    home.ok("index --index I p");
    let temporary = home.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    // The second has only memory.
    for temporary in [temporary, home.path("file")] {
        let mut command = home.command("search --index I wanted");
        command.env("HOME", home.path("file"));
        command.env("XDG_CACHE_HOME", home.path("file/cache"));
        command.env("TMPDIR", &temporary);
        let found = finish(&mut command);
        found.check("a search without a home", 0, &[]);
        assert_eq!(
            (found.text(), &*found.stderr),
            ("p/a.c:1:int wanted;\n", "")
        );
    }
}

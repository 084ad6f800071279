use super::*;

fn render(text: &str) -> String {
    Markdown::parse(text).render(&Targets::default(), 1)
}

#[test]
fn markdown_becomes_html() {
    for (text, html) in [
        (
            "# A `b`\n\ntext *em* **strong**",
            "<h2 id=\"md-a-b\">A <code>b</code></h2>\n<p>text <em>em</em> <strong>strong</strong></p>\n",
        ),
        (
            "```rust\nfn f<T>() {}\n```",
            "<pre><code>fn f&#60;T&#62;() {}\n</code></pre>\n",
        ),
        (
            "- [x] a\n- [ ] b",
            "<ul>\n<li>☑ a</li>\n<li>☐ b</li>\n</ul>\n",
        ),
        (
            "|a|b|\n|:-:|-|\n|1|2|",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td>2</td></tr>\n</tbody></table>\n",
        ),
        (
            "[x](https://example.org/?a=b&c \"t\")",
            "<p><a href=\"https://example.org/?a=b&amp;c\" title=\"t\">x</a></p>\n",
        ),
        (
            "[up](#Some-Part)",
            "<p><a href=\"#md-some-part\">up</a></p>\n",
        ),
        ("a  \nb", "<p>a<br />\nb</p>\n"),
        (
            "<p align=\"center\">\n<b>Hi</b> &amp; <br> you</p>",
            "<p>Hi &#38; <br />\n you</p>\n",
        ),
        ("~~x~~", "<p><del>x</del></p>\n"),
    ] {
        assert_eq!(render(text), html, "{text}");
    }
}

#[test]
fn headings_leave_no_level_out_and_have_ids_of_their_own() {
    let html = render("### deep\n\n# top\n\n##### deep\n\n###### Deep");
    let expected = "<h2 id=\"md-deep\">deep</h2>\n<h2 id=\"md-top\">top</h2>\n<h3 id=\"md-deep-1\">deep</h3>\n<h4 id=\"md-deep-2\">Deep</h4>\n";
    assert_eq!(html, expected);
    assert!(
        Markdown::parse("# a")
            .render(&Targets::default(), 2)
            .starts_with("<h3")
    );
}

#[test]
fn hostile_markdown_has_no_markup_of_its_own() {
    for text in [
        "<script>alert(1)</script>",
        "a <script>alert(1)</script> b",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><script>alert(1)</script></svg>",
        "<iframe src=\"javascript:alert(1)\"></iframe>",
        "<a href=\"javascript:alert(1)\" onclick=\"alert(1)\">x</a>",
        "[x](javascript:alert(1))",
        "[x](  JaVaScRiPt:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        "![x](javascript:alert(1))",
        "![x\"onerror=alert(1) y](https://e.example/\"onerror=alert(1))",
        "[x](https://e.example/\" onmouseover=\"alert(1))",
        "[x](https://e.example/ \"t\\\" onmouseover=\\\"alert(1)\")",
        "# x\" onclick=\"alert(1)",
        "# a {#q onclick=alert(1)}",
        "```\"><script>alert(1)</script>\n</code></pre><script>\n```",
        "`</code><script>alert(1)</script>`",
        "<!-- --><script>alert(1)</script> -->",
        "<style>*{background:url(https://e.example/)}</style>",
        "<base href=https://e.example/>",
        "<meta http-equiv=refresh content=0;url=https://e.example>",
        "<form action=https://e.example><input autofocus onfocus=alert(1)>",
        "</div></main></body>",
        "<div style=\"position:fixed\">x</div>",
        "![](https://e.example/track.png)",
        "<img src=\"https://e.example/track.png\" alt='x'>",
        "[![b](https://e.example/b.svg)](https://e.example/)",
        "<a <b <c <d",
        "<![CDATA[<script>alert(1)</script>]]>",
        "\u{202e}evil\u{202c} \u{0}",
        "| <script> | ![x](//e.example/x) |\n|--|--|\n| a | b |",
    ] {
        let html = render(text);
        let mut rest = &html[..];
        while let Some((_, tag)) = rest.split_once('<') {
            let (tag, after) = tag.split_once('>').expect("a tag has an end");
            let name = tag
                .trim_start_matches('/')
                .split([' ', '/'])
                .next()
                .unwrap_or_default();
            assert!(
                [
                    "p", "a", "h2", "code", "pre", "br", "table", "thead", "tbody", "tr", "th",
                    "td"
                ]
                .contains(&name),
                "{text}: {html}"
            );
            if let Some(attributes) = tag.strip_prefix("a href=\"") {
                assert!(
                    attributes.starts_with("https://e.example/"),
                    "{text}: {html}"
                );
            }
            let quotes = tag.matches('"').count();
            assert!(
                quotes == 0
                    || tag.split('"').step_by(2).all(|part| {
                        let name = part
                            .trim()
                            .trim_start_matches("a ")
                            .trim_start_matches("h2 ");
                        ["", "href=", "title=", "id="].contains(&name)
                    }),
                "{text}: {html}"
            );
            rest = after;
        }
        assert!(
            !html.contains('\u{202e}') && !html.contains('\0'),
            "{text}: {html}"
        );
    }
}

#[test]
fn an_image_of_another_site_is_a_link_to_it() {
    assert_eq!(
        render("![a chart](https://e.example/x.png)"),
        "<p><a href=\"https://e.example/x.png\">a chart</a></p>\n"
    );
    let link = "<p><a href=\"https://e.example/x.png\">https://e.example/x.png</a></p>\n";
    assert_eq!(render("![](https://e.example/x.png)"), link);
    // An image in a link: the outer link wins.
    assert_eq!(
        render("[![b](https://e.example/b.svg)](https://e.example/ci)"),
        "<p><a href=\"https://e.example/ci\">b</a></p>\n"
    );
}

#[test]
fn long_and_deep_texts_take_linear_time() {
    for text in [
        "> ".repeat(50_000),
        "[".repeat(200_000),
        "*a ".repeat(100_000),
        "<a ".repeat(100_000),
        "<div>\n".to_owned() + &"<a \"".repeat(50_000),
        "<div>\n".to_owned() + &"<script></".repeat(50_000),
        "- ".repeat(5000) + "x",
        "![".repeat(50_000),
        "`".repeat(100_000),
    ] {
        let began = std::time::Instant::now();
        let html = render(&text);
        assert!(html.len() < 20 * text.len() + 1000, "{}", html.len());
        assert!(html.matches("<blockquote>").count() <= DEPTH_MAX);
        assert!(
            began.elapsed().as_secs() < 20,
            "{:.20}: {:?}",
            text,
            began.elapsed()
        );
    }
}

#[test]
fn quotes_are_escaped_so_that_no_text_is_an_attribute() {
    assert_eq!(
        render("href=\"/a\" `src=\"/b\"`"),
        "<p>href=&#34;/a&#34; <code>src=&#34;/b&#34;</code></p>\n"
    );
}

#[test]
fn a_text_of_our_own_is_shown_within_a_sentence() {
    assert_eq!(
        inline("`at` is a position"),
        "<code>at</code> is a position"
    );
    assert_eq!(inline("a\n\nb"), "<p>a</p>\n<p>b</p>");
}

#[test]
fn names_say_what_is_markdown() {
    for (name, is) in [
        ("README.md", true),
        ("a/b.MarkDown", true),
        ("md", false),
        ("a.mdx", false),
        (".md", true),
    ] {
        assert_eq!(is_markdown(name.as_bytes()), is, "{name}");
    }
}

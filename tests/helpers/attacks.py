"""Texts that attack a page that does not escape them: scripts, links, formulas, unclosed HTML."""

ATTACKS = [
    "<script>window.acted = 'script'</script>",
    "<img src=x onerror=\"window.acted = 'onerror'\">",
    '<iframe src="https://evil.example/frame"></iframe>',
    '<link rel="stylesheet" href="https://evil.example/style.css">',
    "![picture][far]\n\n[far]: https://evil.example/reference.png",
    "[click](javascript:window.acted='link')",
    "[click]( \tJaVaScRiPt:window.acted='link')",
    "[click][odd]\n\n[odd]: javascript:window.acted='reference'",
    r"$\href{javascript:window.acted='formula'}{x}$",
    "```html\n<script>window.acted = 'fence'</script>\n```",
    # link definitions that a search by regular expressions missed
    "[click][a\nb]\n\n[a\nb]: javascript:window.acted='two-lines'",
    "[click][a\\]b]\n\n[a\\]b]: javascript:window.acted='bracket'",
    "- one\n\n  [in-list]: javascript:window.acted='in-list'\n\n[click][in-list]",
    "![p][p\nq]\n\n[p\nq]: https://evil.example/two-lines.png 'a title'",
    # other ways to write an address
    "[click](&#106;avascript:window.acted='entity') [click](&#x4a;avascript&colon;window.acted='entities')",
    "<javascript:window.acted='autolink'> <https://evil.example/autolink>",
    "[click](<java\tscript:window.acted='tab'>) [click](\x01javascript:window.acted='control')",
    "[click](vbscript:window.acted) [click](https:javascript:window.acted='scheme')",
    "[click](files/javascript:window.acted='files') [click](/files/javascript:window.acted='files')",
    "[click](//evil.example/x) [click](/formgrader/manage_students) [click](\\\\evil.example)",
    "![p](//evil.example/pixel.png) ![p](pixel.png) ![p](\\\\evil.example/pixel.png)",
    '[click](https://example.org "x\\" onmouseover=\\"window.acted=\'title\'") <a title="a\'b" onclick=window.acted=1>',
    "![p](attachment:missing.png 'a\" onerror=\"window.acted=1')",
    "|[click](javascript:window.acted='table')|\n|-|\n|![p](https://evil.example/table.png)|",
    # HTML that ends where it should not, and code
    "<!-- --><script>window.acted = 'comment'</script> -->\n\n<!--><img src=x onerror=window.acted=1>-->",
    "<![CDATA[ ><img src=x onerror=window.acted=1> ]]> <?x ><img src=x onerror=window.acted=1>?>",
    '~~~ "><script>window.acted=1</script>\nx\n~~~\n\n```html onload=window.acted=1\n<img src=x>\n```',
    '```mermaid\n<img src=x onerror=window.acted=1>\nclick A href "javascript:window.acted=1"\n```',
    # ids of formgrader's own fields
    '# written-roles\n\n<h1 id="test-softmax" class="score">x</h1>',
    # formulas
    "$\\href1{javascript:1}{x}$ and $\\class_{a}{b}$ and $$\\cssId{a}{b}$$",
    "\\begin{equation}\\require{html}\\style{background: url(https://evil.example/style.png)}{x}\\end{equation}",
    '$\\bbox[background:url(https://evil.example/box.png)]{x}$ $\\mmlToken{mi}[href="javascript:1"]{x}$',
    "$$\n\\href\n{javascript:1}{x}\n$$ and \\\\(\\data{a=b}{x}\\\\) and $\\hr<wbr>ef{javascript:1}{x}$",
]

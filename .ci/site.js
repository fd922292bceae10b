// Material wraps each table in a region that scrolls; the keyboard reaches it, and it says what it is.
const reachable = () => {
    for (const place of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
        const headings = [...document.querySelectorAll(".md-typeset :is(h1, h2, h3)")];
        const above = headings.filter(one => one.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING).pop();
        place.tabIndex = 0;
        place.setAttribute("role", "group");
        place.setAttribute("aria-label", `Table: ${above ? above.firstChild.textContent : document.title}`);
    }
};
new MutationObserver(reachable).observe(document.body, {childList: true, subtree: true});
reachable();

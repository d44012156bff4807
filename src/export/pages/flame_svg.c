/* Flame graph as an SVG element that zooms and searches with a script of its own. As a file it opens in any browser
 * from file://. Inside a page, its styles and its script apply to the element only. */
#include "export/pages/flame_layout.h"

static const char script[] = {
#include "flame.js.inc"
    , 0};

enum { WIDTH = 1200, PAD = 10, ROW = 17, TOP = 58, PARTS = 12000, MOST = 40000 };

static const char style[] =
    ".ntrace-flame{background:#fdfdfb}"
    ".ntrace-flame text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1a1a1a;pointer-events:none}"
    ".ntrace-flame .frame{cursor:pointer}.ntrace-flame .frame:focus{outline:none}"
    ".ntrace-flame .frame:hover rect,.ntrace-flame .frame:focus rect{stroke:#000;stroke-width:1.5}"
    ".ntrace-flame .above{opacity:.55}.ntrace-flame .match rect{fill:#b45cff}"
    ".ntrace-flame .title{font-size:16px;font-weight:bold}"
    ".ntrace-flame .button{cursor:pointer;text-decoration:underline;pointer-events:auto}"
    "@media(prefers-color-scheme:dark){.ntrace-flame{background:#16181c}"
    ".ntrace-flame .title,.ntrace-flame .status,.ntrace-flame .button{fill:#e6e6e6}"
    ".ntrace-flame .frame:hover rect,.ntrace-flame .frame:focus rect{stroke:#fff}}";

/* Writes a colour derived from the name, in warm tones; traps are blue. */
static void write_colour(ntr_out *out, const ntr_stack_node *node, const char *name) {
    unsigned hash = 5381;
    for (; *name; name++) hash = hash * 33 ^ (unsigned char)*name;
    if (node->kind >= NTR_FRAME_EXCEPTION)
        ntr_out_format(out, "hsl(%u,70%%,72%%)", 200 + hash % 25);
    else
        ntr_out_format(out, "hsl(%u,%u%%,%u%%)", 12 + hash % 40, 72 + hash / 64 % 20, 62 + hash / 2048 % 12);
}

static void write_box(ntr_export *x, const ntr_flame *f, const ntr_flame_box *box) {
    const ntr_stack_node *node = &f->stacks.nodes[box->node];
    char copy[NTR_OUT_SHORT + 4];
    const char *name = box->node ? ntr_out_shorten(ntr_stacks_name(x, node), copy) : "all";
    double total = (double)f->stacks.nodes[0].total;
    unsigned y = TOP + (f->depth - box->depth) * ROW;
    ntr_out_format(&x->out, "<g class=\"frame\" role=\"button\" data-x=\"%.9g\" data-w=\"%.9g\" data-name=\"",
                   (double)box->from / total, (double)node->total / total);
    ntr_out_xml(&x->out, name);
    ntr_out_text(&x->out, "\"><title>");
    ntr_out_xml(&x->out, name);
    ntr_out_format(&x->out, ": %llu instructions, %.2f %%", (unsigned long long)node->total,
                   100 * (double)node->total / total);
    if (box->node)
        ntr_out_format(&x->out, "; itself %llu; entered %llu times", (unsigned long long)node->self,
                       (unsigned long long)node->calls);
    ntr_out_format(&x->out, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" rx=\"2\" fill=\"",
                   PAD + (double)box->from / total * WIDTH, y, (double)node->total / total * WIDTH, ROW - 1);
    write_colour(&x->out, node, name);
    ntr_out_format(&x->out, "\"/><text x=\"0\" y=\"%u\"/></g>\n", y + 12);
}

static void write_head(ntr_export *x, const ntr_flame *f, bool alone) {
    unsigned height = TOP + (f->depth + 1) * ROW + PAD;
    if (alone) ntr_out_text(&x->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    ntr_out_format(
        &x->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ntrace-flame\" viewBox=\"0 0 %d %u\" "
        "width=\"100%%\" data-width=\"%d\" data-pad=\"%d\" role=\"group\" aria-label=\"flame graph\">\n<title>",
        WIDTH + 2 * PAD, height, WIDTH, PAD);
    ntr_out_xml(&x->out, x->analysis.title ? x->analysis.title : "trace");
    ntr_out_text(&x->out, "</title>\n<style>");
    ntr_out_text(&x->out, style);
    ntr_out_format(&x->out, "</style>\n<text class=\"title\" x=\"%d\" y=\"22\">", PAD);
    ntr_out_xml(&x->out, x->analysis.title ? x->analysis.title : "trace");
    ntr_out_format(&x->out,
                   ": %llu instructions</text>\n<text class=\"status\" x=\"%d\" y=\"44\" aria-live=\"polite\"/>\n",
                   (unsigned long long)f->stacks.nodes[0].total, PAD);
    ntr_out_format(&x->out,
                   "<text class=\"button search\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"22\">search</text>\n"
                   "<text class=\"button reset\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"22\" "
                   "style=\"display:none\">reset zoom</text>\n",
                   WIDTH - 50, WIDTH - 160);
}

void ntr_flame_write_svg(ntr_export *x, const ntr_flame *f, bool alone) {
    write_head(x, f, alone);
    for (size_t i = 0; f->stacks.nodes[0].total && i < f->count; i++) write_box(x, f, &f->boxes[i]);
    ntr_out_text(&x->out, "<script><![CDATA[\n");
    ntr_out_text(&x->out, script);
    ntr_out_text(&x->out, "]]></script>\n</svg>\n");
}

static ntr_status end(ntr_export *x) {
    ntr_flame flame;
    ntr_status status = ntr_flame_make(&flame, x, PARTS, MOST);
    if (status) return status;
    ntr_flame_write_svg(x, &flame, true);
    ntr_flame_release(&flame);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_flame_svg = {
    .name = "svg",
    .family = "flame",
    .summary = "an SVG file that zooms and searches in a browser",
    .aliases = {"flamegraph"},
    .needs = NTR_NEEDS_TREE,
    .end = end,
};

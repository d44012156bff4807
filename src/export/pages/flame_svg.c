/* Flame graph as an SVG element that zooms and searches with a script of its own. As a file it opens in any browser
 * from file://. Inside a page, its styles and its script apply to the element only. */
#include "export/pages/flame_layout.h"

#include <stdio.h>

static const char script[] = {
#include "flame.js.inc"
    , 0};

enum { WIDTH = 1200, PAD = 10, ROW = 17, TOP = 58 };

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

static void write_box(ntr_out *out, const ntr_flame *f, const ntr_flame_look *look, const ntr_flame_box *box) {
    const ntr_stack_node *node = &f->stacks.nodes[box->node];
    char copy[NTR_OUT_SHORT + 4];
    const char *name = box->node ? ntr_out_shorten(look->name(look->user, box->node), copy) : "all";
    double total = (double)f->stacks.nodes[0].total;
    unsigned y = TOP + (f->depth - box->depth) * ROW;
    ntr_out_format(out, "<g class=\"frame\" role=\"button\" data-x=\"%.9g\" data-w=\"%.9g\" data-name=\"",
                   (double)box->from / total, (double)node->total / total);
    ntr_out_xml(out, name);
    ntr_out_text(out, "\"><title>");
    ntr_out_xml(out, name);
    ntr_out_text(out, ": ");
    look->describe(out, look->user, box->node);
    ntr_out_format(out, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" rx=\"2\" fill=\"",
                   PAD + (double)box->from / total * WIDTH, y, (double)node->total / total * WIDTH, ROW - 1);
    look->colour(out, look->user, box->node, name);
    ntr_out_format(out, "\"/><text x=\"0\" y=\"%u\"/></g>\n", y + 12);
}

static void write_head(ntr_out *out, const ntr_flame *f, const ntr_flame_look *look, bool alone) {
    unsigned height = TOP + (f->depth + 1) * ROW + PAD;
    if (alone) ntr_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    ntr_out_format(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ntrace-flame\" viewBox=\"0 0 %d %u\" "
        "width=\"100%%\" data-width=\"%d\" data-pad=\"%d\" role=\"group\" aria-label=\"flame graph\">\n<title>",
        WIDTH + 2 * PAD, height, WIDTH, PAD);
    ntr_out_xml(out, look->title);
    ntr_out_text(out, "</title>\n<style>");
    ntr_out_text(out, style);
    ntr_out_format(out, "</style>\n<text class=\"title\" x=\"%d\" y=\"22\">", PAD);
    ntr_out_xml(out, look->title);
    ntr_out_text(out, ": ");
    ntr_out_xml(out, look->summary);
    ntr_out_format(out, "</text>\n<text class=\"status\" x=\"%d\" y=\"44\" aria-live=\"polite\"/>\n", PAD);
    ntr_out_format(out,
                   "<text class=\"button search\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"22\">search</text>\n"
                   "<text class=\"button reset\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"22\" "
                   "style=\"display:none\">reset zoom</text>\n",
                   WIDTH - 50, WIDTH - 160);
}

void ntr_flame_write(ntr_out *out, const ntr_flame *f, const ntr_flame_look *look, bool alone) {
    write_head(out, f, look, alone);
    for (size_t i = 0; f->stacks.nodes[0].total && i < f->count; i++) write_box(out, f, look, &f->boxes[i]);
    ntr_out_text(out, "<script><![CDATA[\n");
    ntr_out_text(out, script);
    ntr_out_text(out, "]]></script>\n</svg>\n");
}

/* ---- the graph of a call tree */

typedef struct tree_graph {
    const ntr_export *x;
    const ntr_flame *flame;
} tree_graph;

static const char *tree_name(const void *user, uint32_t node) {
    const tree_graph *g = user;
    return ntr_stacks_name(g->x, &g->flame->stacks.nodes[node]);
}

/* Writes a colour derived from the name, in warm tones; traps are blue. */
static void tree_colour(ntr_out *out, const void *user, uint32_t node, const char *name) {
    const tree_graph *g = user;
    unsigned hash = 5381;
    for (; *name; name++) hash = hash * 33 ^ (unsigned char)*name;
    if (g->flame->stacks.nodes[node].kind >= NTR_FRAME_EXCEPTION)
        ntr_out_format(out, "hsl(%u,70%%,72%%)", 200 + hash % 25);
    else
        ntr_out_format(out, "hsl(%u,%u%%,%u%%)", 12 + hash % 40, 72 + hash / 64 % 20, 62 + hash / 2048 % 12);
}

static void tree_describe(ntr_out *out, const void *user, uint32_t number) {
    const tree_graph *g = user;
    const ntr_stack_node *node = &g->flame->stacks.nodes[number];
    ntr_out_format(out, "%llu instructions, %.2f %%", (unsigned long long)node->total,
                   100 * (double)node->total / (double)g->flame->stacks.nodes[0].total);
    if (number)
        ntr_out_format(out, "; itself %llu; entered %llu times", (unsigned long long)node->self,
                       (unsigned long long)node->calls);
}

void ntr_flame_write_svg(ntr_export *x, const ntr_flame *f, bool alone) {
    const tree_graph g = {x, f};
    char summary[48];
    snprintf(summary, sizeof summary, "%llu instructions", (unsigned long long)f->stacks.nodes[0].total);
    const ntr_flame_look look = {
        .user = &g,
        .name = tree_name,
        .describe = tree_describe,
        .colour = tree_colour,
        .title = x->analysis.title ? x->analysis.title : "trace",
        .summary = summary,
    };
    ntr_flame_write(&x->out, f, &look, alone);
}

static ntr_status end(ntr_export *x) {
    ntr_flame flame;
    ntr_status status = ntr_flame_make(&flame, x, NTR_FLAME_PARTS, NTR_FLAME_MOST);
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

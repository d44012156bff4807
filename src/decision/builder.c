#include "decision/builder.h"

#include "base/allocator.h"

ntr_status ntr_code_map_make(ntr_code_map *map, ntr_decisions *decisions, const ntr_source_options *options,
                             const ntr_program *program, ntr_debug_info *debug) {
    ntr_map_builder b = {.map = map,
                         .decisions = decisions,
                         .options = options,
                         .debug = debug,
                         .extents.allocator = map->allocator,
                         .graph.allocator = map->allocator,
                         .statements.allocator = map->allocator};
    map->program = program;
    ntr_status status = ntr_extents_make(&b.extents, decisions);
    if (!status) status = ntr_builder_find(&b);
    if (!status) status = ntr_builder_match(&b);
    if (!status) status = ntr_code_map_index(map);
    ntr_extents_release(&b.extents);
    ntr_graph_release(&b.graph);
    ntr_statements_release(&b.statements);
    ntr_dealloc(map->allocator, b.found);
    ntr_dealloc(map->allocator, b.codes);
    return status;
}

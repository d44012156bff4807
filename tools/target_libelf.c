/* The static libelf of elfutils 0.192, as Debian has it, lacks its own functions of search trees (libeu.a is not in the
 * package). These are the same on the trees of the C library. A tree has a lock, which one thread does not need. */
#include <search.h>
#include <stddef.h>

typedef struct search_tree {
    void *root;
} search_tree;

typedef int comparison(const void *, const void *);

void eu_search_tree_init(search_tree *tree);
void eu_search_tree_fini(search_tree *tree, void (*free_node)(void *));
void *eu_tsearch(const void *key, search_tree *tree, comparison *compare);
void *eu_tfind(const void *key, search_tree *tree, comparison *compare);
void *eu_tdelete(const void *key, search_tree *tree, comparison *compare);

void eu_search_tree_init(search_tree *tree) {
    tree->root = NULL;
}

void eu_search_tree_fini(search_tree *tree, void (*free_node)(void *)) {
    tdestroy(tree->root, free_node);
    tree->root = NULL;
}

void *eu_tsearch(const void *key, search_tree *tree, comparison *compare) {
    return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, search_tree *tree, comparison *compare) {
    return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, search_tree *tree, comparison *compare) {
    return tdelete(key, &tree->root, compare);
}

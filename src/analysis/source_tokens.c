#include "analysis/source_tokens.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <ctype.h>
#include <string.h>

typedef struct token_scan {
    const char *at, *end;
    ntr_text_place place;
    bool begins_line;
} token_scan;

int ntr_text_place_compare(ntr_text_place a, ntr_text_place b) {
    return a.line != b.line ? NTR_COMPARE(a.line, b.line) : NTR_COMPARE(a.column, b.column);
}

bool ntr_source_token_is(const ntr_source_token *token, const char *name) {
    const size_t size = strlen(name);
    if (token->kind == NTR_TOKEN_NAME) return token->size == size && memcmp(token->text, name, size) == 0;
    if (token->kind != NTR_TOKEN_DIRECTIVE) return false;
    const char *at = token->text + 1, *end = token->text + token->size;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return (size_t)(end - at) >= size && memcmp(at, name, size) == 0;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static void advance(token_scan *s, size_t count) {
    for (; count && s->at < s->end; count--, s->at++) {
        s->place.column++;
        if (*s->at == '\n') s->place = (ntr_text_place){s->place.line + 1, 1};
    }
}

static bool begins(const token_scan *s, const char *text) {
    const size_t size = strlen(text);
    return (size_t)(s->end - s->at) >= size && memcmp(s->at, text, size) == 0;
}

/* Returns the number of bytes of a line that may go on after a backslash. */
static size_t line_size(const token_scan *s) {
    const char *at = s->at;
    while (at < s->end && (*at != '\n' || at[-1] == '\\' || (at[-1] == '\r' && at[-2] == '\\'))) at++;
    return (size_t)(at - s->at);
}

static size_t comment_size(const token_scan *s) {
    if (begins(s, "//")) return line_size(s);
    const char *at = s->at + 2;
    while (at < s->end && !(at[0] == '*' && at + 1 < s->end && at[1] == '/')) at++;
    return (size_t)(at - s->at) + 2;
}

/* Returns the size of a string or a character, without what stands before the quote. */
static size_t quoted_size(const token_scan *s) {
    const char *at = s->at + 1;
    while (at < s->end && *at != *s->at && *at != '\n') at += *at == '\\' ? 2 : 1;
    return at < s->end ? (size_t)(at - s->at) + 1 : (size_t)(s->end - s->at);
}

/* The same for R"x(...)x". */
static size_t raw_size(const token_scan *s) {
    enum { MARK_MAX = 16 };
    const char *mark = s->at + 1, *open = mark;
    while (open < s->end && *open != '(' && open - mark <= MARK_MAX) open++;
    const size_t size = (size_t)(open - mark);
    for (const char *at = open; (size_t)(s->end - at) >= size + 2; at++)
        if (at[0] == ')' && memcmp(at + 1, mark, size) == 0 && at[size + 1] == '"')
            return (size_t)(at - s->at) + size + 2;
    return (size_t)(s->end - s->at);
}

static size_t number_size(const token_scan *s) {
    const char *at = s->at;
    for (; at < s->end; at++) {
        const bool sign = (*at == '+' || *at == '-') && strchr("eEpP", at[-1]);
        if (!is_name(*at) && *at != '.' && *at != '\'' && !sign) break;
    }
    return (size_t)(at - s->at);
}

static size_t name_size(const token_scan *s, char *kind) {
    token_scan quote = *s;
    while (quote.at < s->end && is_name(*quote.at)) quote.at++;
    const size_t size = (size_t)(quote.at - s->at);
    *kind = NTR_TOKEN_NAME;
    if (quote.at == s->end || (*quote.at != '"' && *quote.at != '\'') || size > 3 || !strchr("uULR8", *s->at))
        return size;
    *kind = NTR_TOKEN_VALUE;
    return size + (quote.at[-1] == 'R' ? raw_size(&quote) : quoted_size(&quote));
}

static size_t token_size(const token_scan *s, char *kind) {
    static const struct {
        char text[3];
        char kind;
    } pairs[] = {{"&&", NTR_TOKEN_AND}, {"||", NTR_TOKEN_OR}, {"::", NTR_TOKEN_SCOPE}, {"->", NTR_TOKEN_ARROW}};
    const char c = *s->at;
    *kind = c;
    if (c == '#' && s->begins_line) return line_size(s);
    if (c == '"' || c == '\'') return *kind = NTR_TOKEN_VALUE, quoted_size(s);
    if (isdigit((unsigned char)c) || (c == '.' && s->at + 1 < s->end && isdigit((unsigned char)s->at[1])))
        return *kind = NTR_TOKEN_VALUE, number_size(s);
    if (is_name(c)) return name_size(s, kind);
    for (size_t i = 0; i < NTR_COUNT(pairs); i++)
        if (begins(s, pairs[i].text)) return *kind = pairs[i].kind, 2;
    if (c == '#') *kind = NTR_TOKEN_VALUE;
    return 1;
}

ntr_status ntr_source_tokens_read(ntr_source_tokens *tokens, ntr_bytes text, const ntr_allocator *allocator) {
    const char *begin = (const char *)text.data;
    token_scan s = {begin, begin + text.size, {1, 1}, true};
    while (s.at < s.end) {
        if (isspace((unsigned char)*s.at) || begins(&s, "\\\n") || begins(&s, "\\\r\n")) {
            s.begins_line |= *s.at == '\n';
            advance(&s, *s.at == '\\' ? 2 : 1);
        } else if (begins(&s, "//") || begins(&s, "/*")) {
            advance(&s, comment_size(&s));
        } else {
            if (ntr_reserve(allocator, (void **)&tokens->items, &tokens->capacity, tokens->count + 1,
                            sizeof *tokens->items))
                return NTR_E_MEMORY;
            ntr_source_token *token = &tokens->items[tokens->count++];
            *token = (ntr_source_token){.at = s.place, .text = s.at};
            token->size = (uint32_t)token_size(&s, &token->kind);
            advance(&s, token->size);
            token->end = s.place;
            s.begins_line = false;
        }
    }
    return NTR_OK;
}

/* ---- selecting --------------------------------------------------------------------------------- */

/* Returns the directive that ends the group of the one at `i`: #elif, #else or #endif of the same depth. */
static size_t group_end(const ntr_source_tokens *file, size_t i) {
    unsigned depth = 0;
    for (i++; i < file->count; i++) {
        const ntr_source_token *token = &file->items[i];
        if (token->kind != NTR_TOKEN_DIRECTIVE) continue;
        if (ntr_source_token_is(token, "if"))
            depth++;
        else if (!depth && (ntr_source_token_is(token, "el") || ntr_source_token_is(token, "endif")))
            return i;
        else if (ntr_source_token_is(token, "endif"))
            depth--;
    }
    return i;
}

static size_t find_endif(const ntr_source_tokens *file, size_t i) {
    while (i < file->count && !ntr_source_token_is(&file->items[i], "endif")) i = group_end(file, i);
    return i;
}

/* Sets *group to the directive before the group of #if that has code, or to its #endif. */
static ntr_status choose_group(const ntr_source_tokens *file, size_t i, ntr_source_has_code has_code, void *user,
                               size_t *group) {
    const size_t none = find_endif(file, i);
    *group = none;
    for (size_t end; i < none; i = end) {
        end = group_end(file, i);
        if (end >= file->count) return NTR_E_SYNTAX;
        if (end == i + 1 || !has_code(user, file->items[i].end.line + 1, file->items[end].at.line - 1)) continue;
        if (*group != none) return NTR_E_SYNTAX;
        *group = i;
    }
    return NTR_OK;
}

static char closing(char open) {
    return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '\0';
}

/* Appends a token. `open`: the index plus 1 of the innermost open bracket, whose `match` is that of the one around it.
 */
static ntr_status append(ntr_source_tokens *selected, const ntr_source_token *token, uint32_t *open,
                         const ntr_allocator *allocator) {
    const uint32_t index = (uint32_t)selected->count;
    if (ntr_reserve(allocator, (void **)&selected->items, &selected->capacity, selected->count + 1,
                    sizeof *selected->items))
        return NTR_E_MEMORY;
    selected->items[selected->count++] = *token;
    ntr_source_token *added = &selected->items[index];
    added->match = index;
    if (closing(token->kind)) {
        added->match = *open;
        *open = index + 1;
    } else if (token->kind == ')' || token->kind == ']' || token->kind == '}') {
        ntr_source_token *first = *open ? &selected->items[*open - 1] : NULL;
        if (!first || closing(first->kind) != token->kind) return NTR_E_SYNTAX;
        added->match = *open - 1;
        *open = first->match;
        first->match = index;
    }
    return NTR_OK;
}

ntr_status ntr_source_tokens_select(ntr_source_tokens *selected, const ntr_source_tokens *file, uint32_t line,
                                    uint32_t last, ntr_source_has_code has_code, void *user,
                                    const ntr_allocator *allocator) {
    size_t i = 0, end = file->count;
    uint32_t open = 0;
    while (i < end) { /* the first token on `line` */
        const size_t middle = i + (end - i) / 2;
        if (file->items[middle].at.line < line)
            i = middle + 1;
        else
            end = middle;
    }
    for (; i < file->count; i++) {
        const ntr_source_token *token = &file->items[i];
        if (token->at.line > last && !open) return NTR_OK;
        if (token->kind != NTR_TOKEN_DIRECTIVE) {
            const bool outside = !open && (token->kind == ')' || token->kind == ']' || token->kind == '}');
            if (!outside) TRY(append(selected, token, &open, allocator));
        } else if (ntr_source_token_is(token, "if")) {
            TRY(choose_group(file, i, has_code, user, &i));
        } else if (ntr_source_token_is(token, "el")) {
            i = find_endif(file, i);
        }
    }
    return open ? NTR_E_SYNTAX : NTR_OK;
}

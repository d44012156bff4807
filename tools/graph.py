"""Cycles of a graph (a node: the nodes it points to), for the checks of tools/."""
import collections


def components(graph):
    """The strongly connected parts with more than one node, or with a node that points to itself, each sorted."""
    reached, done, found = {node: reachable(graph, node) for node in graph}, set(), []
    for node in sorted(graph):
        if node in reached[node] and node not in done:
            found.append(sorted(other for other in reached[node] if node in reached.get(other, ())))
            done.update(found[-1])
    return found


def cycles(graph):
    """One shortest cycle of each strongly connected part."""
    return [shortest_cycle(graph, part[0]) for part in components(graph)]


def reachable(graph, start):
    seen, queue = set(), list(graph[start])
    while queue:
        node = queue.pop()
        if node not in seen:
            seen.add(node)
            queue += graph.get(node, ())
    return seen


def shortest_cycle(graph, start):
    queue, before = collections.deque([start]), {}
    while start not in before:
        node = queue.popleft()
        for other in sorted(graph.get(node, ())):
            if other not in before:
                before[other] = node
                queue.append(other)
    way = [start, before[start]]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]

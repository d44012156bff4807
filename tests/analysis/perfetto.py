"""Reads the tracks of a file in Perfetto's trace format (perfetto.dev/docs/reference/trace-packet-proto)."""
import collections

Slice = collections.namedtuple("Slice", "name begin end depth")
INTERNED, TRACK, EVENT = 12, 60, 11  # members of TracePacket
BEGIN = 1


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def members(data):
    """(number, value) of each member of a message: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 2:
            size, at = number(data, at)
            value, at = data[at:at + size], at + size
        elif key & 7 == 0:
            value, at = number(data, at)
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        yield key >> 3, value


def describe(track, processes):
    """(process, name) of a track."""
    if 3 in track:  # a process
        process = dict(members(track[3]))
        processes[track[1]] = processes[process[1]] = process[6].decode()
        return processes[track[1]], ""
    if 4 in track:  # a thread
        thread = dict(members(track[4]))
        return processes.get(thread[1]), thread[5].decode()
    return processes.get(track.get(5)), track[2].decode()


def tracks(data):
    """{(process, name of the track): slices in the order of their begin}. Slices of a track must be nested."""
    names, processes, found, of, open_slices = {}, {}, {}, {}, {}
    for _, packet in members(data):
        packet = dict(members(packet))
        if INTERNED in packet:
            for _, name in members(packet[INTERNED]):
                name = dict(members(name))
                names[name[1]] = name[2].decode()
        if TRACK in packet:
            track = dict(members(packet[TRACK]))
            of[track[1]] = found.setdefault(describe(track, processes), [])
            open_slices[track[1]] = []
        if EVENT not in packet:
            continue
        event, time = dict(members(packet[EVENT])), packet[8]
        stack, slices = open_slices[event[11]], of[event[11]]
        if event[9] == BEGIN:
            stack.append(len(slices))
            slices.append(Slice(event[23].decode() if 23 in event else names[event[10]], time, None, len(stack) - 1))
        else:
            last = stack.pop()
            assert time >= slices[last].begin, slices[last]
            slices[last] = slices[last]._replace(end=time)
    assert not any(open_slices.values()), "slices without an end"
    return found

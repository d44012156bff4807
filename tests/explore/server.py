#!/usr/bin/env python3
"""The server of ntrace open: who gets an answer, and which.

usage: server.py NTRACE
"""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.parse

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import DEADLINE, NTRACE, ROOT, Run, case, check, equal, main, matches, skip
from story import ask, bundle, program, traced


@contextlib.contextmanager
def served(*traces):
    """The host and the path of the page."""
    process = subprocess.Popen([NTRACE, "open", "--no-browser", "--cache", "none", *traces], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().strip()
        if not url:
            error = process.stderr.read()
            if "libmicrohttpd" in error:
                skip("build-http")
            check(False, error)
        place = urllib.parse.urlsplit(url)
        yield place.netloc, place.path
        process.send_signal(signal.SIGINT)
        equal(process.wait(DEADLINE), 0, "status after ^C")
    finally:
        process.kill()
        process.communicate()


def request(host, path, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection(host, timeout=DEADLINE)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, names)
    response = connection.getresponse()
    result = response.status, response.read(), dict(response.getheaders())
    connection.close()
    return result


@case("the page is the file of the tree, with headers that keep it to itself")
def page():
    with served(bundle()) as (host, path):
        matches(r"^127\.0\.0\.1:\d+$", host, "host")
        matches(r"^/[0-9a-f]{32}/$", path, "path")
        status, body, headers = request(host, path)
        with open(os.path.join(ROOT, "web", "explore.html"), "rb") as file:
            equal((status, body), (200, file.read()), "page")
        equal([headers.get(name) for name in ("X-Frame-Options", "Referrer-Policy", "Cache-Control", "X-Content-Type-Options")],
              ["DENY", "no-referrer", "no-store", "nosniff"], "headers")
        policy = re.search(rb'Content-Security-Policy" content="([^"]+)"', body)[1].decode()
        check("default-src 'none'" in policy and "unsafe" not in policy, policy)
        check(not re.search(rb"https?://", body), "the page names no other place")


@case("an answer is that of ntrace explore --ask")
def answers():
    questions = [{"query": "functions"}, {"query": "at", "position": 1234}, {"query": "nosuch"}]
    expected = ask(bundle(), *questions[:2]) + ask(bundle(), questions[2], status=2)
    with served(bundle(), bundle("--no-compress")) as (host, path):
        equal(request(host, path + "traces")[1], b"2", "traces")
        def indexed(trace):
            return json.loads(request(host, path + f"ask/{trace}", "POST", b'{"query":"about"}')[1])["progress"]["complete"]
        while not (indexed(0) and indexed(1)):
            pass
        for question, answer in zip(questions, expected):
            status, body, _ = request(host, path + "ask/0", "POST", json.dumps(question))
            equal((status, json.loads(body)), (400 if "error" in answer else 200, answer), question["query"])
        equal(json.loads(request(host, path + "ask/1", "POST", b'{"query":"about"}')[1])["instructions"], expected[0]["progress"]["known"], "second trace")


@case("while the trace is read and indexed, every question is answered, and in the end as by --ask")
def early():
    trace = traced(program("-DROUNDS=200"), "longer")  # more instructions than a question walks over
    questions = [{"query": "overview", "columns": 50}, {"query": "slices"}, {"query": "tree"}, {"query": "functions"}, {"query": "gaps"}, {"query": "names", "text": "sum"},
                 {"query": "at", "position": 400000}, {"query": "messages", "position": 10}, {"query": "find", "text": "fall"}, {"query": "about"}]
    with served(trace) as (host, path):
        complete = False
        while not complete:
            answers = [json.loads(request(host, path + "ask/0", "POST", json.dumps(question))[1]) for question in questions]
            check(not any("error" in answer for answer in answers), answers)
            complete = answers[0]["progress"]["complete"] and answers[-1]["progress"]["complete"]
        for question, one, other in zip(questions, answers, ask(trace, *questions)):
            equal(one, other, question["query"])


@case("who does not know the token, or comes from elsewhere, gets nothing")
def strangers():
    with served(bundle()) as (host, path):
        port = host.rpartition(":")[2]
        wrong = "/" + "0" * 32 + "/"
        question = b'{"query":"about"}'
        for name, status, arguments, headers in (
                ("no token", 403, ("/",), {}), ("another token", 403, (wrong,), {}), ("a part of it", 403, (path[:9] + "/",), {}),
                ("another name", 403, (path,), {"Host": "evil.example:" + port}), ("no port", 403, (path,), {"Host": "127.0.0.1"}),
                ("another origin", 403, (path + "ask/0", "POST", question), {"Origin": "http://evil.example"}),
                ("another port's origin", 403, (path + "ask/0", "POST", question), {"Origin": "http://127.0.0.1:1"}),
                ("no origin at all", 403, (path + "ask/0", "POST", question), {"Origin": "null"}),
                ("another site", 403, (path,), {"Sec_Fetch_Site": "cross-site"}),
                ("its own origin", 200, (path + "ask/0", "POST", question), {"Origin": "http://" + host}),
                ("another page", 404, (path + "nosuch",), {}), ("another trace", 404, (path + "ask/1", "POST", question), {}),
                ("another method", 404, (path + "ask/0", "PUT", question), {}), ("a long question", 413, (path + "ask/0", "POST", b"x" * 70000), {})):
            equal(request(host, *arguments, **headers)[0], status, name)
        raw = socket.create_connection(("127.0.0.1", int(port)), timeout=DEADLINE)
        raw.sendall(b"\x00\xff nonsense\r\n\r\n")
        raw.close()
        equal(request(host, path)[0], 200, "after nonsense")


@case("a port that does not exist is refused, not taken modulo 65536")
def ports():
    for port in (65536, 99999, 2 ** 70):
        error = Run("explore", bundle(), "--listen", str(port), "--no-browser", status=2).err
        if "libmicrohttpd" in error:
            skip("build-http")
        equal(error, f"ntrace explore: --listen {port}: expected a port from 0 to 65535\n", str(port))


@case("an address that other machines reach is refused")
def elsewhere():
    error = Run("open", "--no-browser", "--listen", "0.0.0.0:0", bundle(), status=2).err
    if "libmicrohttpd" in error:
        skip("build-http")
    matches("--listen 0.0.0.0:0: expected a loopback address", error, "error")


main()

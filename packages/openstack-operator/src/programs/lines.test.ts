import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const program = join(import.meta.dirname, "../../programs/lines.py");
const python = spawnSync("python3", ["-c", ""]).status === 0;

interface Line {
  readonly level?: string;
  readonly service?: string;
  readonly host?: string;
  readonly message?: string;
  readonly time?: string;
}

/** What a shell's text becomes, and the status. */
function run(script: string): { lines: Line[]; status: number | null } {
  const { stdout, status } = spawnSync("python3", ["-IS", program, "nova", "sh", "-c", script], { encoding: "utf8" });
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { lines: lines.map((line) => JSON.parse(line) as Line), status };
}

describe.skipIf(!python)("lines of a container's log", () => {
  test.each([
    ["2026-11-28T06:45:04Z|00001|vswitchd|ERR|mlockall failed: Cannot allocate memory", "ERROR"],
    ["2026-11-28T06:45:03Z|00001|ovsdb|WARN|changed 2 columns in 'OVN_Northbound'", "WARNING"],
    ["2026-11-28  6:45:10 0 [Note] WSREP: Loading provider", "INFO"],
    ["2026-11-28  6:45:10 0 [Warning] Could not increase number of max_open_files", "WARNING"],
    ["2026-11-28 06:45:10.654886+00:00 [error] <0.224.0> Feature flags", "ERROR"],
    ["INFO  [alembic.runtime.migration] Context impl MySQLImpl.", "INFO"],
    ['says "so", with a \\ and a tab\t', "INFO"],
  ])("that are text become objects with a level: %s", (text, level) => {
    const { lines, status } = run(`printf '%s\\n' '${text.replaceAll("'", `'"'"'`)}'`);
    expect(lines).toEqual([
      { time: expect.stringMatching(/^\d{4}-.*Z$/), level, service: "nova", host: hostname(), message: text },
    ]);
    expect(status).toBe(0);
  });

  test("that are objects keep what they have and get what every line has, from both outputs and without an end", () => {
    const { lines } = run(`echo '{"message": "one", "more": [1]}'; sleep 0.1; printf '{"message": "two"}' >&2`);
    const own = { time: expect.stringMatching(/^\d{4}-.*Z$/), level: "INFO", service: "nova", host: hostname() };
    expect(lines).toEqual([
      { ...own, message: "one", more: [1] },
      { ...own, message: "two" },
    ]);
  });

  test.each([
    [
      "oslo.log",
      { msg: "a", levelname: "WARNING", created: 1795944186.661807, hostname: "h", context: { request_id: "req-1" } },
      { message: "a", level: "WARNING", time: "2026-11-29T09:23:06.661Z", host: "h", request_id: "req-1" },
    ],
    [
      "RabbitMQ",
      { time: "2026-11-29 09:23:34.234085+00:00", level: "notice", msg: "b" },
      { message: "b", level: "INFO", time: "2026-11-29T09:23:34.234085+00:00", host: hostname() },
    ],
    [
      "uWSGI",
      { time: "2026-11-29T09:23:07Z", level: "INFO", program: "uwsgi", message: "c" },
      { message: "c", level: "INFO", time: "2026-11-29T09:23:07Z", service: "nova" },
    ],
  ])("of %s have the fields of every line next to their own", (_name, line, fields) => {
    const { lines } = run(`printf '%s\\n' '${JSON.stringify(line)}'`);
    expect(lines).toEqual([expect.objectContaining({ service: "nova", ...fields })]);
    expect(Object.keys(lines[0] ?? {})).toEqual(expect.arrayContaining(Object.keys(line)));
  });

  test.each(["1e999", "1e20", "-1e18", "1795944186661807000"])(
    "that name a time no clock has, as %s, do not end the program, and are of now",
    (created) => {
      const { lines, status } = run(`echo '{"message": "a", "created": ${created}}'; sleep 0.3; echo after`);
      expect(lines.map(({ message }) => message)).toEqual(["a", "after"]);
      expect(lines[0]?.time).toMatch(/^20\d\d-\d\d-\d\dT.*Z$/);
      expect(status).toBe(0);
    },
  );

  test.each([
    ['{"message": NaN}', "NaN"],
    ['{"message": 1e999}', "1e999"],
    ['{"message": ', '{"message": '],
    ["{}{}", "{}{}"],
    ["{not json}", "{not json}"],
  ])("that only begin as an object are one all the same: %s", (text, message) => {
    const { lines } = run(`printf '%s\\n' '${text}'`);
    expect(lines).toEqual([expect.objectContaining({ level: "INFO", message })]);
  });

  test("of a traceback are one object, with its message and the exception that caused it", () => {
    const script = `cat <<'END'
it failed
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    call()
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
ValueError: b
another line
END`;
    const { lines } = run(script);
    expect(lines.map(({ level, message }) => [level, message?.split("\n").length])).toEqual([
      ["ERROR", 11],
      ["INFO", 1],
    ]);
    expect(lines[0]?.message).toMatch(/^it failed\n[\s\S]*ValueError: b$/);
  });

  test("that come slowly are written before the next one comes", async () => {
    const child = spawn("python3", ["-IS", program, "nova", "sh", "-c", "echo one; sleep 60"]);
    const [data] = (await once(child.stdout, "data")) as [Buffer];
    expect(JSON.parse(data.toString())).toMatchObject({ message: "one" });
    child.kill("SIGTERM");
    // Of a program that a signal ended.
    expect(await once(child, "close")).toEqual([143, null]);
  });

  test("that never end are cut", () => {
    const { lines } = run("head -c 600000 /dev/zero | tr '\\0' a");
    expect(lines.length).toBeGreaterThan(1);
    expect(Math.max(...lines.map(({ message = "" }) => message.length))).toBeLessThanOrEqual(1 << 18);
  });

  test("are followed by the program's own status, also where a child of it lives on", () => {
    const began = Date.now();
    const { lines, status } = run("sleep 30 & echo last; exit 7");
    expect({ status, messages: lines.map(({ message }) => message) }).toEqual({ status: 7, messages: ["last"] });
    expect(Date.now() - began).toBeLessThan(20_000);
  });

  test("say which program is missing", () => {
    const { stdout, status } = spawnSync("python3", ["-IS", program, "nova", "/missing/program"], { encoding: "utf8" });
    expect({ status, ...(JSON.parse(stdout) as Line) }).toMatchObject({
      status: 127,
      message: "/missing/program: No such file or directory",
    });
  });

  test("leave signals to the program, which may take its time", async () => {
    const script = `trap 'echo stops; sleep 0.3; exit 0' TERM; echo runs; while :; do sleep 0.05; done`;
    const child = spawn("python3", ["-IS", program, "nova", "sh", "-c", script]);
    let text = "";
    child.stdout.on("data", (data: Buffer) => (text += data.toString()));
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
    expect(text).toContain('"message": "stops"');
  });
});

import { expect, test } from "vitest";
import { createLog } from "@causeway/foundation";
import { textOf } from "./text-log.ts";

test("a line of the log is text with its time, level, message and fields", () => {
  const lines: string[] = [];
  const log = createLog({ destination: { write: (line) => void lines.push(textOf(line)) } });
  log
    .with({ component: "openstack" })
    .warn("list failed", { reason: "connect ECONNREFUSED", attempt: 2, password: "x" });
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d warn {2}list failed component=openstack reason="connect ECONNREFUSED" attempt=2 password=\[redacted\]\n$/,
  );
});

test("a line of the log that is no JSON is written as it is", () => expect(textOf("plain\n")).toBe("plain\n"));

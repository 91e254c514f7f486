import { CausewayError } from "@causeway/foundation";
import { expect, test } from "vitest";
import { moveEach } from "./namespaces.ts";

const signal = new AbortController().signal;

function play({ refused = [], failing = [] }: { refused?: string[]; failing?: string[] }) {
  const done: string[] = [];
  const lines: string[] = [];
  const stop = (namespace: string): never => {
    throw new CausewayError("MOVE_OBJECT_DELETED", `Machine ${namespace}/a is being deleted`, { hint: "Wait." });
  };
  const check = async (namespace: string): Promise<void> => {
    done.push(`check ${namespace}`);
    if (refused.includes(namespace)) stop(namespace);
  };
  const move = async (namespace: string): Promise<void> => {
    done.push(`move ${namespace}`);
    if (failing.includes(namespace)) stop(namespace);
  };
  return { done, lines, each: { check, move, report: (line: string) => void lines.push(line), dryRun: false } };
}

test("all namespaces are checked first, what is refused is reported, and the others move", async () => {
  const { done, lines, each } = play({ refused: ["a"], failing: ["b"] });
  await expect(moveEach(["a", "b", "c"], each, signal)).rejects.toMatchObject({
    code: "MOVE_NAMESPACES_LEFT",
    message: "2 of 3 namespaces did not move: a, b",
  });
  expect(done).toEqual(["check a", "check b", "check c", "move b", "move c"]);
  expect(lines).toEqual([
    "a: MOVE_OBJECT_DELETED: Machine a/a is being deleted. Wait.",
    "b: MOVE_OBJECT_DELETED: Machine b/a is being deleted. Wait.",
  ]);
});

test("with none refused, all move", async () => {
  const { done, each } = play({});
  await moveEach(["a", "b"], each, signal);
  expect(done).toEqual(["check a", "check b", "move a", "move b"]);
});

test("an interruption ends it", async () => {
  const { done, each } = play({});
  await expect(moveEach(["a"], each, AbortSignal.abort(new Error("interrupted")))).rejects.toThrow("interrupted");
  expect(done).toEqual([]);
});

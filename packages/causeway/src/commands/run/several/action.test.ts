import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { whenAborted } from "@causeway/foundation";
import { expect, test } from "vitest";
import type { Component } from "../components.ts";
import { runSeveral } from "./action.ts";

/** Components a and b, which run until the signal aborts, and c, which fails when `fail` resolves. */
function stage() {
  const seen: string[] = [];
  const fail = Promise.withResolvers<void>();
  const component = (name: string, run: (flags: object, signal: AbortSignal) => Promise<void>): Component => ({
    command: (signal): CommandUnknownOpts =>
      new Command(name).option("--port <port>", "", "0").action(async (flags) => {
        seen.push(`${name} ${JSON.stringify(flags)}`);
        await run(flags, signal).finally(() => seen.push(`${name} ended`));
      }),
    example: name,
  });
  const until = (_: object, signal: AbortSignal): Promise<void> => whenAborted(signal);
  const failing = async (): Promise<void> => {
    await fail.promise;
    throw new Error("c failed");
  };
  return { seen, fail, components: [component("a", until), component("b", until), component("c", failing)] };
}

test("components of one process have their own flags, and end with the signal", async () => {
  const { seen, components } = stage();
  const stop = new AbortController();
  const running = runSeveral([" a  --port=1", "b --port 2"], components, stop.signal);
  expect(seen).toEqual(['a {"port":"1"}', 'b {"port":"2"}']);
  stop.abort();
  await running;
  expect(seen.slice(2)).toEqual(["a ended", "b ended"]);
});

test("components of one process end when one of them fails, with its failure", async () => {
  const { seen, fail, components } = stage();
  const running = runSeveral(["a", "c"], components, new AbortController().signal);
  fail.resolve();
  await expect(running).rejects.toThrow("c failed");
  expect(seen.slice(2)).toEqual(["c ended", "a ended"]);
});

test.each([
  ["an unknown component", ["a", "d --port 1"], '"d" is no component'],
  ["a component that is given twice", ["a", "a --port 1"], '"a" is no component, or is given twice'],
  ["an empty argument", ["a", " "], '"" is no component'],
])("%s is refused before anything starts", async (_title, lines, message) => {
  const { seen, components } = stage();
  await expect(runSeveral(lines, components, new AbortController().signal)).rejects.toThrow(message);
  expect(seen).toEqual([]);
});

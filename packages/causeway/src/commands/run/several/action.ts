import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { InputError, suggestion } from "@causeway/foundation";
import { settled } from "../../../terminal/settle.ts";
import type { Component } from "../components.ts";

/**
 * Runs the components of these command lines until the signal aborts, or one of them ends. Unknown names end it before
 * anything starts.
 * @throws FLAG_INVALID, and what a component throws
 */
export async function runSeveral(
  lines: readonly string[],
  components: readonly Component[],
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const known = new Map(
    components
      .map(({ command }) => settled(command(AbortSignal.any([signal, ended.signal]))))
      .map((command) => [command.name(), command]),
  );
  const runs = lines.map((line) => readLine(line, known));
  const results = await Promise.allSettled(
    runs.map(async ({ command, words }) => {
      try {
        await command.parseAsync([...words], { from: "user" });
      } finally {
        ended.abort(new Error(`${command.name()} ended`));
      }
    }),
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

interface Run {
  readonly command: CommandUnknownOpts;
  readonly words: readonly string[];
}

/** Takes the component out of `known`: two of one name would be one command. */
function readLine(line: string, known: Map<string, CommandUnknownOpts>): Run {
  const [name = "", ...words] = line.split(/\s+/).filter((word) => word !== "");
  const command = known.get(name);
  if (command === undefined) {
    throw new InputError("FLAG_INVALID", `${JSON.stringify(name)} is no component, or is given twice.`, {
      hint: `Specify a component with its flags as one argument${suggestion(name, [...known.keys()])}; causeway run --help lists all.`,
    });
  }
  known.delete(name);
  return { command, words };
}

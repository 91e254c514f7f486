import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { withShortVersion } from "./command-line.ts";
import { program } from "./program.ts";

const root = program(new AbortController().signal);

function all(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return [command, ...command.commands.flatMap(all)];
}

/** `plan service`, without the name of the program. */
function pathOf(command: CommandUnknownOpts): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

function helpOf(command: CommandUnknownOpts): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

describe("the folder commands/", () => {
  const folder = join(import.meta.dirname, "commands");

  test("has a folder with command.ts for every command", () => {
    const names = root.commands.map((command) => command.name());
    expect(readdirSync(folder).filter((name) => existsSync(join(folder, name, "command.ts")))).toEqual(names.sort());
  });

  test("has a folder with command.ts for every component of run", () => {
    const names = root.commands.find((command) => command.name() === "run")?.commands.map((c) => c.name());
    const folders = readdirSync(join(folder, "run")).filter((name) =>
      existsSync(join(folder, "run", name, "command.ts")),
    );
    expect(folders).toEqual(names?.sort());
  });
});

describe("the help of the program", () => {
  test.each(all(root).map((command) => [command.name(), command] as const))("shows examples of %s", (_, command) => {
    expect(helpOf(command)).toMatch(/\nExamples:\n {2}causeway /);
  });

  test.each(all(root).map((command) => [pathOf(command), command] as const))(
    "has no line of prose over 100 characters in that of %s",
    (_, command) => {
      const [, text = ""] = helpOf(command).split(/\n\n(?:Options|Commands):\n/);
      expect(text.split("\n").filter((line) => /^\S/.test(line) && line.length > 100)).toEqual([]);
    },
  );

  test("does not offer what only the program itself starts", () => {
    expect(helpOf(root)).not.toMatch(/^ {2}machine /m);
  });
});

describe("options of up", () => {
  const up = root.commands.find((command) => command.name() === "up");
  const option = (flag: string) => up?.options.find((o) => o.long === flag);

  test.each(["-1", "70000", "x", "1.5"])("--port %s is refused", (value) => {
    expect(() => option("--port")?.parseArg?.(value, undefined)).toThrow("whole number from 0 to 65535");
  });

  test("--replicas 0 is refused: the demo's load balancer needs a node", () => {
    expect(() => option("--replicas")?.parseArg?.("0", undefined)).toThrow("from 1 to 1000");
  });

  test.each(["--os-cloud", "--insecure", "--cacert"])("%s is one, as of other commands that read a cloud", (flag) => {
    expect(option(flag)).toBeDefined();
  });
});

describe("-o", () => {
  const printing = all(root).filter(({ options }) => options.some(({ short }) => short === "-o"));

  test("is an option of many commands", () => {
    expect(printing.length).toBeGreaterThan(20);
  });

  test.each(printing.map((command) => [pathOf(command), command] as const))(
    "of %s offers a table, JSON and YAML, and the result goes through documentOf",
    (path, command) => {
      const option = command.options.find(({ short }) => short === "-o");
      expect(option?.defaultValue).toBe("table");
      expect(option?.argChoices).toEqual(expect.arrayContaining(["table", "json", "yaml"]));
      const folder = join(import.meta.dirname, "commands", path.split(" ")[0] ?? "");
      const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
      const texts = sources.map((file) => readFileSync(join(folder, file), "utf8"));
      expect(texts.some((text) => text.includes("documentOf("))).toBe(true);
    },
  );

  test("of version json prints a document that is indented", async () => {
    let written = "";
    const stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      written += String(text);
      return true;
    });
    try {
      await program(new AbortController().signal).parseAsync(["node", "causeway", "version", "-o", "json"]);
    } finally {
      stdout.mockRestore();
    }
    expect(written).toBe(`${JSON.stringify(JSON.parse(written), null, 2)}\n`);
  });
});

describe("-v", () => {
  test("alone is the version, and belongs to the command after one", () => {
    expect(withShortVersion(["node", "causeway", "-v"])).toEqual(["node", "causeway", "--version"]);
    expect(withShortVersion(["node", "causeway", "doctor", "-v"])).toEqual(["node", "causeway", "doctor", "-v"]);
  });

  test("is an option of every command that has --log-level", () => {
    const logging = all(root).filter(({ options }) => options.some(({ long }) => long === "--log-level"));
    const without = logging.filter(({ options }) => !options.some(({ short }) => short === "-v"));
    expect(without.map((command) => command.name())).toEqual([]);
    expect(logging.length).toBeGreaterThan(20);
  });

  test.each([
    [[], "warn"],
    [["-v", "0"], "warn"],
    [["-v=2"], "info"],
    [["-v6"], "debug"],
    [["--v", "4"], "debug"],
    [["--log-level", "error"], "error"],
  ])("sets the level of the log: %s", (words, level) => {
    const doctor = program(new AbortController().signal).commands.find((command) => command.name() === "doctor");
    doctor?.parseOptions(words);
    expect(doctor?.opts()).toMatchObject({ logLevel: level });
  });

  test("refuses a level that is not a number", () => {
    const doctor = program(new AbortController().signal).commands.find((command) => command.name() === "doctor");
    expect(() => doctor?.parseOptions(["-v", "much"])).toThrow('-v must be a whole number, and is "much"');
  });
});

/** What the program writes before it ends with status 2. */
async function refusalOf(args: readonly string[]): Promise<string> {
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  let written = "";
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
  try {
    const run = program(new AbortController().signal).parseAsync(["node", "causeway", ...args]);
    await expect(run).rejects.toThrow("exit 2");
    return written;
  } finally {
    exit.mockRestore();
    stderr.mockRestore();
  }
}

test.each([
  [["help", "versoin"], /^error: unknown command 'versoin'; is "version" meant\?\n\(run it with --help/],
  [["help", "frob"], /^error: unknown command 'frob'\n/],
  [["create", "help", "clutser"], /^error: unknown command 'clutser'; is "cluster" meant\?/],
  [["sweep", "--dry-run", "clusters", "old"], /--dry-run' is given before 'clusters', and would be ignored/],
])("%j is refused in one line", async (args, says) => {
  expect(await refusalOf(args)).toMatch(says);
});

test("options behind a command are its own, where the command above it has them, too", async () => {
  const whole = program(new AbortController().signal);
  const sweep = whole.commands.find((command) => command.name() === "sweep");
  const clusters = sweep?.commands.find((command) => command.name() === "clusters");
  clusters?.action(() => {});
  await whole.parseAsync(["sweep", "clusters", "old", "--dry-run", "--kubeconfig", "k"], { from: "user" });
  expect(clusters?.opts()).toMatchObject({ dryRun: true, kubeconfig: "k" });
});

test.each([
  [["-o", "json"], "--demo"],
  [["--replicas", "99"], "--demo"],
  [["--flavor", "m1.large"], "--demo"],
  [["--timeout", "3"], "--exit-when-ready"],
  [["--demo", "--timeout", "3"], "--exit-when-ready"],
])("up %j is refused without %s", async (args, needed) => {
  const refused = program(new AbortController().signal).parseAsync(["up", ...args], { from: "user" });
  await expect(refused).rejects.toMatchObject({
    code: "FLAG_INVALID",
    exitStatus: 2,
    message: expect.stringContaining(needed) as string,
  });
});

test.each([
  ["an unknown option", ["up", "--nonsense"]],
  ["a value out of bounds", ["up", "--replicas", "0"]],
  ["a missing option", ["machine-agent"]],
  ["an unknown command", ["nonsense"]],
])("%s ends with status 2, before anything is started", async (_, args) => {
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    await expect(program(new AbortController().signal).parseAsync(["node", "causeway", ...args])).rejects.toThrow(
      "exit 2",
    );
  } finally {
    exit.mockRestore();
    stderr.mockRestore();
  }
});

test.each([
  [["--socketpath", "/k.sock", "--cloud-confg", "x"], "unknown option '--cloud-confg'"],
  [["--socketpath", "/k.sock"], "required option '--cloud-config <file>' not specified"],
  [["--cloud-config", "x"], "required option '--socketpath <path>' not specified"],
])("run barbican-kms %j reports %s", async (args, message) => {
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  let written = "";
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
  try {
    const run = program(new AbortController().signal);
    await expect(run.parseAsync(["node", "causeway", "run", "barbican-kms", ...args])).rejects.toThrow("exit 2");
    expect(written).toContain(message);
  } finally {
    exit.mockRestore();
    stderr.mockRestore();
  }
});

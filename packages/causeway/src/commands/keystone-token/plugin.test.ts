import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { keystoneTokenCommand } from "./command.ts";
import { withPlugin } from "../../credential-plugin/kubeconfig.ts";
import { ownCommand } from "../../credential-plugin/own-command.ts";
import { pluginOf, type PluginFlags } from "./plugin.ts";

const own = { command: "/usr/bin/causeway", args: [] };

/** What commander makes of these arguments. */
function parsed(args: readonly string[], env: Record<string, string> = {}): PluginFlags {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    const command = keystoneTokenCommand().action(() => undefined);
    command.parse([...args], { from: "user" });
    return command.opts();
  } finally {
    process.env = before;
  }
}

describe("the exec entry of a kubeconfig", () => {
  test("keeps every flag that was given: what it runs has the same ones", () => {
    const secrets = ["--password", "a'b", "--application-credential-secret=-s"];
    const files = ["--cert", "c.pem", "--key", "/k.pem", "--cacert", "~/ca.pem"];
    const user = ["--cloud", "prod", "--domain-name", "-d", "--user-name", "me", "--project-name", "my shop"];
    const credential = ["--application-credential-id", "i", "--application-credential-name", "n"];
    const others = ["--keystone-url", "https://k/v3", "--no-cache", "--log-level", "debug"];
    const given = parsed([...user, ...secrets, ...files, ...credential, ...others]);
    const { args, env } = pluginOf(own, given, "/work");
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    expect(parsed(args.slice(1), variables)).toEqual({ ...given, cert: "/work/c.pem" });
    expect(Object.keys(given)).toHaveLength(14);
    expect(args.join(" ")).not.toMatch(/a'b|=-s/);
    const config = parse(withPlugin(admin, { command: own.command, args, env })) as {
      users: { user: { exec: { env: unknown } } }[];
    };
    expect(config.users[0]?.user.exec.env).toEqual(env);
  });

  test("has no more than the command without flags", () => {
    expect(pluginOf(own, parsed([]), "/work")).toEqual({ command: own.command, args: ["keystone-token"], env: [] });
  });

  const admin = JSON.stringify({
    clusters: [{ name: "c", cluster: { server: "https://s" } }],
    users: [{ name: "u", user: { token: "administrator" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
  test("is in place of the administrator's credential", () => {
    expect(withPlugin(admin, { ...own, env: [] })).not.toContain("administrator");
  });
});

describe("the command of the exec entry", () => {
  let root: string;
  let launcher: string;
  let script: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "own-command-")));
    script = program("install/src/start.js");
    launcher = program("install/src/launch.sh");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function program(path: string): string {
    const file = join(root, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "");
    chmodSync(file, 0o755);
    return file;
  }
  function link(path: string, to = launcher): string {
    const file = join(root, path);
    mkdirSync(join(file, ".."), { recursive: true });
    symlinkSync(to, file);
    return file;
  }
  const commandOn = (...folders: string[]) =>
    ownCommand({ script, execPath: "/node", path: folders.map((each) => join(root, each)).join(":") });

  test("is the link on PATH that leads to this installation, before the one that npx adds", () => {
    link("npx/node_modules/.bin/causeway");
    const installed = link("usr/bin/causeway");
    expect(commandOn("npx/node_modules/.bin", "none", "usr/bin")).toEqual({ command: installed, args: [] });
    expect(commandOn("npx/node_modules/.bin").command).toBe(join(root, "npx/node_modules/.bin/causeway"));
  });
  test("is not another installation's, and no folder of PATH that depends on where kubectl is started", () => {
    program("usr/bin/causeway");
    expect(commandOn("usr/bin").command).toBe(launcher);
    expect(ownCommand({ script, execPath: "/node", path: ".:" }).command).toBe(launcher);
  });
  test("is Node with the script, where there is no launcher", () => {
    rmSync(launcher);
    expect(commandOn()).toEqual({ command: "/node", args: [script] });
  });
  test("is that of the installation, where the script was started by a link to it", () => {
    expect(ownCommand({ script: link("bin/causeway", script), execPath: "/node", path: undefined }).command).toBe(
      launcher,
    );
  });
});

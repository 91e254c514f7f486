/** Wrong input is answered at once and in plain words, by a process that ends and leaves nothing half-made. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { causeway } from "../support/processes.ts";

const seconds = 1000;

interface Answer {
  readonly code: number | null;
  readonly output: string;
}

describe("wrong input", () => {
  let dir: string;
  let simulator: Simulator;
  let before: readonly string[];
  let state: string;

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "causeway-wrong-"));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  beforeEach(async () => {
    simulator = await startSimulator();
    before = simulator.inventory();
  });
  afterEach(() => simulator.close());

  const clouds = (change: (text: string) => string = (text) => text) => {
    const path = join(mkdtempSync(join(dir, "clouds-")), "clouds.yaml");
    writeFileSync(path, change(simulator.cloudsYaml), { mode: 0o600 });
    return path;
  };
  const up = async (args: readonly string[], config: string | undefined = clouds()): Promise<Answer> => {
    state = mkdtempSync(join(dir, "state-"));
    return upOn(state, args, config);
  };
  const upOn = async (folder: string, args: readonly string[], config: string | undefined): Promise<Answer> => {
    const system = causeway(["up", "--demo", "--exit-when-ready", "--state", folder, ...args], {
      env: { OS_CLIENT_CONFIG_FILE: config, HOME: dir, OS_CLOUD: undefined },
      cwd: dir,
    });
    const timer = setTimeout(() => system.child.kill("SIGKILL"), 30 * seconds);
    const code = await system.ended;
    clearTimeout(timer);
    return { code, output: system.output() };
  };
  const onCloud = ["--cloud", "simulator", "--advertise-address", "127.0.0.1"];

  /** What a person is told: what happened, what to do, and a code to search for; no stack. */
  const expectPlain = (answer: Answer, expected: { exit: number; code: string; says: RegExp }) => {
    expect(answer.output).toMatch(expected.says);
    expect(answer.output).toMatch(new RegExp(`^ {2}code: ${expected.code}$`, "m"));
    expect(answer.output).toMatch(/^ {2}what to do: ./m);
    expect(answer.output).not.toMatch(/^\s+at .*:\d+:\d+/m);
    expect(answer.code).toBe(expected.exit);
  };

  test("a cloud that clouds.yaml does not have: those it has are named", async () => {
    const answer = await up(["--cloud", "nosuch"]);
    expectPlain(answer, { exit: 2, code: "CLOUD_NOT_FOUND", says: /nosuch[\s\S]*simulator/ });
    expect(simulator.inventory()).toEqual(before);
  });

  test("no clouds.yaml anywhere: the places that were looked at are named", async () => {
    const answer = await up(["--cloud", "simulator"], "");
    expectPlain(answer, { exit: 2, code: "CLOUDS_YAML_NOT_FOUND", says: /clouds\.yaml/ });
  });

  test("a wrong password", async () => {
    const answer = await up(
      onCloud,
      clouds((text) => text.replace(/password: .*/g, "password: mistyped-7f3a")),
    );
    expectPlain(answer, { exit: 2, code: "OPENSTACK_UNAUTHORIZED", says: /simulator/ });
    expect(answer.output).not.toContain("mistyped-7f3a");
  });

  test("an image that the cloud does not have", async () => {
    const answer = await up([...onCloud, "--image", "nosuch-image"]);
    expectPlain(answer, { exit: 2, code: "IMAGE_NOT_FOUND", says: /nosuch-image[\s\S]*cirros/ });
    expect(simulator.inventory()).toEqual(before);
  });

  test("a flavor that the cloud does not have", async () => {
    const answer = await up([...onCloud, "--flavor", "nosuch-flavor"]);
    expectPlain(answer, { exit: 2, code: "FLAVOR_NOT_FOUND", says: /nosuch-flavor[\s\S]*m1\.small/ });
    expect(simulator.inventory()).toEqual(before);
  });

  test("a port that another process has", async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
    const { port } = taken.address() as AddressInfo;
    try {
      const answer = await up([...onCloud, "--port", String(port)]);
      expectPlain(answer, { exit: 2, code: "APISERVER_PORT_TAKEN", says: new RegExp(String(port)) });
      expect(simulator.inventory()).toEqual(before);
    } finally {
      taken.close();
    }
  });

  test("a state folder of a newer version, which is left as it is", async () => {
    state = mkdtempSync(join(dir, "state-"));
    const file = join(state, "state.json");
    writeFileSync(file, '{"version":99,"cloud":"simulator"}');
    const answer = await upOn(state, [], undefined);
    expectPlain(answer, { exit: 2, code: "STATE_TOO_NEW", says: /99/ });
    expect(readdirSync(state)).toEqual(["state.json"]);
    expect(readFileSync(file, "utf8")).toBe('{"version":99,"cloud":"simulator"}');
  });

  test("an API server's database of a newer version", async () => {
    state = mkdtempSync(join(dir, "state-"));
    mkdirSync(join(state, "apiserver"), { recursive: true });
    const server = await startApiServer({ dir: join(state, "apiserver") });
    await server.close();
    const database = new DatabaseSync(join(state, "apiserver", "state.sqlite"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    const answer = await upOn(state, onCloud, clouds());
    expectPlain(answer, { exit: 2, code: "STATE_TOO_NEW", says: /99|newer/ });
  });

  test("the state folder of another cloud", async () => {
    state = mkdtempSync(join(dir, "state-"));
    writeFileSync(join(state, "state.json"), '{"version":1,"cloud":"RegionTwo/0123456789abcdef0123456789abcdef"}');
    const answer = await upOn(state, onCloud, clouds());
    expectPlain(answer, { exit: 2, code: "STATE_OF_ANOTHER_CLOUD", says: /RegionTwo/ });
    expect(readdirSync(state)).toEqual(["state.json"]);
  });

  test("a quota that leaves no room for a network", async () => {
    simulator.setQuota("demo", "network", 0);
    const answer = await up(onCloud);
    expectPlain(answer, { exit: 1, code: "DEMO_FAILED", says: /[Qq]uota[\s\S]*network/ });
  });

  test("a quota that leaves no room for the third server", async () => {
    simulator.setQuota("demo", "instances", 2);
    const answer = await up(onCloud);
    expectPlain(answer, { exit: 1, code: "DEMO_FAILED", says: /[Qq]uota[\s\S]*instances/ });
  });

  test("a word that the command line does not know", async () => {
    const answer = await up(["--flavour", "m1.small"]);
    expect(answer.output).toMatch(/unknown option '--flavour'[\s\S]*--flavor/);
    expect(answer.code).toBe(2);
  });
});

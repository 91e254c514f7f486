/** Wrong input that is found in the cloud, or when the servers start, is reported in plain words, too. */
import { mkdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startApiServer } from "@causeway/apiserver";
import { describe, expect, test, vi } from "vitest";
import { expectPlain, onCloud, setWrongInput } from "../../support/wrong-input.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const stage = setWrongInput();

describe("the command refuses wrong input, and says what to do:", () => {
  test("an image that the cloud does not have", async () => {
    const answer = await stage().up([...onCloud, "--image", "nosuch-image"]);
    expectPlain(answer, { exit: 2, code: "IMAGE_NOT_FOUND", says: /nosuch-image[\s\S]*cirros/ });
    expect(stage().simulator.inventory()).toEqual(stage().before);
  });

  test("a flavor that the cloud does not have", async () => {
    const answer = await stage().up([...onCloud, "--flavor", "nosuch-flavor"]);
    expectPlain(answer, { exit: 2, code: "FLAVOR_NOT_FOUND", says: /nosuch-flavor[\s\S]*m1\.small/ });
    expect(stage().simulator.inventory()).toEqual(stage().before);
  });

  test("a port that another process has", async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
    const { port } = taken.address() as AddressInfo;
    try {
      const answer = await stage().up([...onCloud, "--port", String(port)]);
      expectPlain(answer, { exit: 2, code: "APISERVER_PORT_TAKEN", says: new RegExp(String(port)) });
      expect(stage().simulator.inventory()).toEqual(stage().before);
    } finally {
      taken.close();
    }
  });

  test("an API server's database of a newer version", async () => {
    const state = stage().state();
    mkdirSync(join(state, "apiserver"), { recursive: true });
    const server = await startApiServer({ dir: join(state, "apiserver") });
    await server.close();
    const database = new DatabaseSync(join(state, "apiserver", "state.sqlite"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    const answer = await stage().upOn(state, onCloud, stage().clouds());
    expectPlain(answer, { exit: 2, code: "STATE_TOO_NEW", says: /99|newer/ });
  });

  test("a quota that leaves no room for a network", async () => {
    stage().simulator.setQuota("demo", "network", 0);
    const answer = await stage().up(onCloud);
    expectPlain(answer, { exit: 1, code: "DEMO_FAILED", says: /[Qq]uota[\s\S]*network/ });
  });

  test("a quota that leaves no room for the third server", async () => {
    stage().simulator.setQuota("demo", "instances", 2);
    const answer = await stage().up(onCloud);
    expectPlain(answer, { exit: 1, code: "DEMO_FAILED", says: /[Qq]uota[\s\S]*instances/ });
  });
});

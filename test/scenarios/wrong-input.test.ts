/**
 * Wrong input is reported at once and in plain words, by a process that ends and leaves nothing half-made: what it
 * finds before it starts anything. What it finds later: long/wrong-input.test.ts.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { expectPlain, onCloud, setWrongInput } from "../support/wrong-input.ts";
import { TIMEOUT } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const stage = setWrongInput();

describe("the command refuses wrong input, and says what to do:", () => {
  test("a cloud that clouds.yaml does not have: those it has are named", async () => {
    const answer = await stage().up(["--cloud", "nosuch"]);
    expectPlain(answer, { exit: 2, code: "CLOUD_NOT_FOUND", says: /nosuch[\s\S]*simulator/ });
    expect(stage().simulator.inventory()).toEqual(stage().before);
  });

  test("no clouds.yaml anywhere: the places that were searched are named", async () => {
    const answer = await stage().up(["--cloud", "simulator"], "");
    expectPlain(answer, { exit: 2, code: "CLOUDS_YAML_NOT_FOUND", says: /clouds\.yaml/ });
  });

  test("a wrong password", async () => {
    const answer = await stage().up(
      onCloud,
      stage().clouds((text) => text.replace(/password: .*/g, "password: mistyped-7f3a")),
    );
    expectPlain(answer, { exit: 2, code: "OPENSTACK_UNAUTHORIZED", says: /simulator/ });
    expect(answer.output).not.toContain("mistyped-7f3a");
  });

  test("a state folder of a newer version, which is left as it is", async () => {
    const state = stage().state();
    const file = join(state, "state.json");
    writeFileSync(file, '{"version":99,"cloud":"simulator"}');
    const answer = await stage().upOn(state, [], undefined);
    expectPlain(answer, { exit: 2, code: "STATE_TOO_NEW", says: /99/ });
    expect(readdirSync(state)).toEqual(["state.json"]);
    expect(readFileSync(file, "utf8")).toBe('{"version":99,"cloud":"simulator"}');
  });

  test("the state folder of another cloud", async () => {
    const state = stage().state();
    writeFileSync(join(state, "state.json"), '{"version":1,"cloud":"RegionTwo/0123456789abcdef0123456789abcdef"}');
    const answer = await stage().upOn(state, onCloud, stage().clouds());
    expectPlain(answer, { exit: 2, code: "STATE_OF_ANOTHER_CLOUD", says: /RegionTwo/ });
    expect(readdirSync(state)).toEqual(["state.json"]);
  });

  test("a word that the command line does not know", async () => {
    const answer = await stage().up(["--flavour", "m1.small"]);
    expect(answer.output).toMatch(/unknown option '--flavour'[\s\S]*--flavor/);
    expect(answer.code).toBe(2);
  });
});

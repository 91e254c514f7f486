/** What the API server refuses of an OpenStackDeployment, before any controller reads it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld;
beforeAll(async () => {
  world = await OperatorWorld.start(1);
  await world.createDeployment({ release: "2023.1", rotation: { passwords: 1 } });
});
afterAll(() => world.close());

describe("the API server refuses", () => {
  test.each([
    ["an older release", { release: "2022.2" }, /release cannot be lowered/],
    [
      "a release beyond the next one",
      { release: "2024.2" },
      /from one SLURP release to the next SLURP release \(2023.1, 2024.1, 2025.1\)/,
    ],
    [
      "another change together with the release",
      { release: "2023.2", size: "Large" },
      /nothing else may change together with release/,
    ],
    ["another region", { region: "RegionTwo" }, /region is immutable/],
    [
      "a rotation that is lowered",
      { rotation: { passwords: 0 } },
      /raised by one at a time and never lowered or removed/,
    ],
    ["a rotation that is removed", { rotation: null }, /raised by one at a time and never lowered or removed/],
    ["two rotations at once", { rotation: { passwords: 3 } }, /raised by one at a time/],
    [
      "keys of tokens that rotate by two times",
      { rotation: { passwords: 1, tokenKeys: { everyMinutes: 5, everyHours: 1 } } },
      /everyMinutes and everyHours exclude each other/,
    ],
    [
      "tokens that outlive too many keys",
      { rotation: { passwords: 1, tokenKeys: { everyMinutes: 1 } } },
      /a token may not outlive more than 240 rotations/,
    ],
    [
      "a service that does not exist",
      { services: [{ name: "novva" }] },
      /spec.services\[0\].name: Unsupported value: "novva"/,
    ],
  ])("%s", async (_, change, message) => {
    await expect(world.change(change)).rejects.toThrow(message);
  });

  test("neither the next release, nor a skip between SLURP releases", async () => {
    await world.change({ release: "2024.1" });
    expect((await world.deployment()).spec.release).toBe("2024.1");
  });
});

import type { HostedControlPlane } from "@causeway/api";
import { expect, test } from "vitest";
import type { MigrationState } from "../runtime.ts";
import { migrationConditions, migrationEvents } from "./migration-condition.ts";

const hash = "0123456789abcdef".repeat(4);
const cases: [string, MigrationState | undefined, object[]][] = [
  ["that never moved has no condition", undefined, []],
  ["whose move was withdrawn has none any more", { stage: "Withdrawn", attempt: 1 }, []],
  [
    "whose members start says so",
    { stage: "Starting", attempt: 1 },
    [{ status: "False", reason: "MigrationStarting" }],
  ],
  [
    "whose last attempt failed says why",
    { stage: "Starting", attempt: 2, failure: "they differ in a" },
    [
      {
        status: "False",
        reason: "MigrationFailed",
        message: expect.stringMatching(/attempt 1 failed: they differ in a/),
      },
    ],
  ],
  [
    "whose writes are refused says so",
    { stage: "Freezing", attempt: 1 },
    [{ status: "False", reason: "MigrationFreezing", message: expect.stringMatching(/refuses writes/) }],
  ],
  [
    "that was moved has what both etcds had",
    { stage: "Retained", attempt: 1, keys: 7, hash },
    [{ status: "True", reason: "Migrated", message: expect.stringMatching(`both had 7 keys with SHA-256 ${hash}`) }],
  ],
];

test.each(cases)("a control plane %s", (_, state, conditions) => {
  expect(migrationConditions(state)).toEqual(
    conditions.map((each) => expect.objectContaining({ type: "DatastoreMigrated", ...each })),
  );
});

test("each stage of a move is one event, and a failed one is a warning", () => {
  const object = (migration?: object) => ({ status: { migration } }) as HostedControlPlane;
  const state: MigrationState = { stage: "Copying", attempt: 1 };
  expect(migrationEvents(object(), state)).toMatchObject([{ type: "Normal", reason: "DatastoreMigration" }]);
  expect(migrationEvents(object({ stage: "Copying", attempt: 1 }), state)).toEqual([]);
  expect(migrationEvents(object({ stage: "Copying", attempt: 1 }), { ...state, attempt: 2 })).toHaveLength(1);
  const failed: MigrationState = { stage: "Returning", attempt: 1, failure: "they differ" };
  expect(migrationEvents(object(state), failed)).toMatchObject([
    { type: "Warning", message: expect.stringMatching(/they differ/) },
  ]);
});

import type { HostedControlPlane } from "@causeway/api";
import { pointsByFolder } from "@causeway/hosted-control-plane";
import { describe, expect, test } from "vitest";
import { backupProgress, requestBackup, type BackupProgress } from "./plan-backup.ts";
import { backupsOfObjects, backupsOfStore, storedPoints } from "./rows.ts";

type Spec = Partial<HostedControlPlane["spec"]>;
type Status = HostedControlPlane["status"];
const planeOf = (spec: Spec, status: Status = {}, deletionTimestamp?: string): HostedControlPlane =>
  ({
    metadata: { namespace: "tenants", name: "web", ...(deletionTimestamp ? { deletionTimestamp } : {}) },
    spec: { version: "v1.34.4", ...spec },
    status,
  }) as HostedControlPlane;
const at = "2026-01-02T03:04:06Z";

describe("a backup of a control plane", () => {
  test.each<[string, HostedControlPlane, object]>([
    ["of the next whole second is requested", planeOf({ backup: {}, runtime: "Process" }), { at }],
    ["is not of one without spec.backup", planeOf({}), { refusal: "it has no spec.backup" }],
    [
      "is not of an embedded one, by its spec",
      planeOf({ backup: {}, runtime: "Embedded" }),
      { refusal: "it is embedded in the API server of `causeway up`" },
    ],
    [
      "is not of an embedded one, by its status",
      planeOf({ backup: {} }, { runtime: "Embedded" }),
      { hint: "`causeway backup FILE` has all embedded control planes." },
    ],
    [
      "is not of one that hibernates",
      planeOf({ backup: {}, replicas: 0 }),
      { refusal: expect.stringMatching(/hibern/) },
    ],
    ["is not of one that is being deleted", planeOf({ backup: {} }, {}, at), { refusal: "it is being deleted" }],
  ])("%s", (_, object, expected) => {
    expect(requestBackup(object, Date.parse("2026-01-02T03:04:05.001Z"))).toMatchObject(expected);
  });

  test("in the last millisecond of a second has what was written before", () => {
    const request = requestBackup(planeOf({ backup: {} }), Date.parse("2026-01-02T03:04:05.000Z"));
    expect(request).toEqual({ at: "2026-01-02T03:04:05Z" });
  });

  test.each<[string, string]>([
    ["2026-01-02T03:14:05.678Z", "2026-01-02T03:14:07Z"],
    ["2026-01-02T03:14:05Z", "2026-01-02T03:14:06Z"],
  ])("is not one from %s that was created before, when this clock is behind", (newestFull, requested) => {
    const object = planeOf({ backup: {} }, { backup: { folder: "tenants/web/uid", newestFull, points: 1 } });
    const request = requestBackup(object, Date.parse("2026-01-02T03:04:05.000Z"));
    expect(request).toEqual({ at: requested });
    expect(backupProgress(object, requested)).toEqual({ missing: "the backup is being created" });
  });

  const failing = [
    { type: "BackedUp", status: "False", reason: "BackupFailed", message: "the bucket (BACKUP_STORE_FAILED)" },
  ] as NonNullable<NonNullable<Status>["conditions"]>;
  test.each<[string, HostedControlPlane, BackupProgress]>([
    [
      "is done when all data is from then",
      planeOf({ backup: {} }, { backup: { folder: "tenants/web/uid", newestFull: at, points: 1 } }),
      { time: at, from: "web/uid" },
    ],
    [
      "is not done by changes",
      planeOf({ backup: {} }, { backup: { folder: "tenants/web/uid", newest: at, points: 1 } }),
      { missing: "the backup is being created" },
    ],
    [
      "is not done by an older one",
      planeOf({ backup: {} }, { backup: { folder: "tenants/web/uid", newestFull: "2026-01-02T03:04:05Z", points: 1 } }),
      { missing: "the backup is being created" },
    ],
    [
      "says why it fails",
      planeOf({ backup: {} }, { conditions: failing }),
      { missing: "the bucket (BACKUP_STORE_FAILED)" },
    ],
    ["ends when it is switched off", planeOf({}), { missing: "the control plane is not backed up any more" }],
  ])("%s", (_, object, expected) => {
    expect(backupProgress(object, at)).toEqual(expected);
  });
});

describe("a list of backups", () => {
  const id = (digit: string) => digit.repeat(16);
  const names = [
    `tenants/web/uid-1/points/2026-01-02T03:00:00.000Z_${id("b")}_${id("a")}`,
    `tenants/web/uid-1/points/2026-01-01T03:00:00.123Z_${id("a")}_${id("a")}`,
    `tenants/web/uid-1/data/${id("a")}/0`,
    `tenants/web/uid-1/points/nonsense`,
    `tenants/old/uid-2/points/2025-01-01T00:00:00.000Z_${id("c")}_${id("c")}`,
    `points/2025-01-01T00:00:00.000Z_${id("c")}_${id("c")}`,
  ];

  test("has the control planes of a store, deleted ones included", () => {
    expect(backupsOfStore(pointsByFolder(names))).toEqual([
      {
        namespace: "tenants",
        name: "web",
        from: "web/uid-1",
        oldest: "2026-01-01T03:00:00.123Z",
        newest: "2026-01-02T03:00:00.000Z",
        backups: 2,
      },
      expect.objectContaining({ name: "old", from: "old/uid-2", backups: 1 }),
    ]);
  });

  test("has each backup of one, the oldest first, with the precision of a restore", () => {
    expect(storedPoints(pointsByFolder(names.slice(0, 4)))).toEqual([
      {
        namespace: "tenants",
        name: "web",
        from: "web/uid-1",
        time: "2026-01-01T03:00:00.123Z",
        has: "all data",
        id: id("a"),
      },
      {
        namespace: "tenants",
        name: "web",
        from: "web/uid-1",
        time: "2026-01-02T03:00:00.000Z",
        has: "changes",
        id: id("b"),
      },
    ]);
  });

  test("has what control planes say, also of one whose backups were switched off, and not of one without", () => {
    const backup = { folder: "tenants/web/uid-1", points: 3, oldest: at, newest: at };
    const rows = backupsOfObjects([planeOf({}), planeOf({ backup: {} }), planeOf({}, { backup })]);
    expect(rows.map(({ from, backups, state }) => [from, backups, state])).toEqual([
      [undefined, 0, "Unknown"],
      ["web/uid-1", 3, "Unknown"],
    ]);
  });
});

import { describe, expect, test } from "vitest";
import type { Observed } from "./gather.ts";
import { planVolumes } from "./plan.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const OWN = { "cinder.csi.openstack.org/cluster": "blue" };
const claim = { "csi.storage.k8s.io/pvc/namespace": "n", "csi.storage.k8s.io/pvc/name": "data" };
const request = {
  "csi.storage.k8s.io/volumesnapshot/namespace": "n",
  "csi.storage.k8s.io/volumesnapshot/name": "snap",
};

/** What this cluster's driver made ten minutes ago. */
const made = (more: object = {}) => ({
  id: "v",
  name: "pvc-1",
  description: "Created by OpenStack Cinder CSI driver",
  metadata: { ...OWN, ...claim } as object,
  created_at: "2026-01-01T00:00:00.000000",
  attachments: [] as readonly { server_id: string }[],
  ...more,
});
const observed = (more: object = {}): Observed =>
  ({
    volumes: [],
    snapshots: [],
    backups: [],
    attachments: [],
    named: new Set(),
    uids: new Set(),
    servers: new Set(["server"]),
    ...more,
  }) as unknown as Observed;
const orphan = { kind: "volume", id: "v", name: "pvc-1", claim: "n/data" };

describe("the volumes that a sweep finds", () => {
  test.each<[string, object, object, readonly object[]]>([
    ["have no object in the cluster", {}, {}, [orphan]],
    ["have none of that handle", {}, { named: new Set(["v"]) }, []],
    ["have no claim of that UID", {}, { uids: new Set(["1"]) }, []],
    ["are of this cluster", { metadata: { ...claim, "cinder.csi.openstack.org/cluster": "red" } }, {}, []],
    ["have a cluster", { metadata: claim }, {}, []],
    ["are of this driver", { description: "by hand" }, {}, []],
    ["have had time to get an object", { created_at: "2026-01-01T00:00:00.001000" }, {}, []],
    ["have a time of creation", { created_at: undefined }, {}, []],
    ["may have any name", { name: "x-1" }, { uids: new Set(["1"]) }, [{ ...orphan, name: "x-1" }]],
    ["may have no name", { name: null }, {}, [{ ...orphan, name: "" }]],
    ["may have an unknown claim", { metadata: OWN }, {}, [{ ...orphan, claim: "unknown" }]],
    [
      "may have a claim of which half is known",
      { metadata: { ...OWN, "csi.storage.k8s.io/pvc/name": "data" } },
      {},
      [{ ...orphan, claim: "unknown" }],
    ],
    [
      "remain while a server has them",
      { attachments: [{ server_id: "gone" }, { server_id: "server" }] },
      {},
      [{ ...orphan, kept: "it is attached to server server" }],
    ],
    ["do not remain for a server that is gone", { attachments: [{ server_id: "gone" }] }, {}, [orphan]],
  ])("%s", (_title, volume, more, expected) => {
    expect(planVolumes(observed({ volumes: [made(volume)], ...more }), "blue", NOW)).toEqual(expected);
  });
});

test("a sweep deletes copies before the volumes that they are of, and attachments before all", () => {
  const copy = (id: string) => made({ id, name: "snapshot-2", metadata: { ...OWN, ...request } });
  const given = observed({
    volumes: [made({ attachments: [{ server_id: "gone" }] })],
    snapshots: [copy("s")],
    backups: [copy("b")],
    attachments: [{ id: "a", volume_id: "v", instance: "gone" }],
  });
  expect(planVolumes(given, "blue", NOW)).toEqual([
    { kind: "attachment", id: "a", name: "pvc-1 to server gone", claim: "n/data" },
    { kind: "backup", id: "b", name: "snapshot-2", claim: "n/snap" },
    { kind: "snapshot", id: "s", name: "snapshot-2", claim: "n/snap" },
    orphan,
  ]);
  const bare = { ...given, volumes: [], backups: [made({ id: "b", metadata: undefined })], snapshots: [] };
  expect(planVolumes(bare as unknown as Observed, "blue", NOW)).toEqual([]);
  expect(planVolumes({ ...given, uids: new Set(["2"]) } as Observed, "blue", NOW).map(({ id }) => id)).toEqual([
    "a",
    "v",
  ]);
});

describe("the attachments that a sweep finds", () => {
  const of = (attachment: object, volume: object = {}) =>
    planVolumes(
      observed({
        volumes: [made(volume)],
        named: new Set(["v"]),
        attachments: [{ id: "a", volume_id: "v", ...attachment }],
      }),
      "blue",
      NOW,
    ).map(({ id }) => id);
  test.each<[string, object, object, readonly string[]]>([
    ["are to servers that are gone", { instance: "gone" }, {}, ["a"]],
    ["are not to a server that is there", { instance: "server" }, {}, []],
    ["are to a server", { instance: "" }, {}, []],
    ["are of volumes of this cluster", { instance: "gone" }, { metadata: claim }, []],
    ["are of volumes that are there", { instance: "gone", volume_id: "other" }, {}, []],
  ])("%s", (_title, attachment, volume, expected) => expect(of(attachment, volume)).toEqual(expected));
});

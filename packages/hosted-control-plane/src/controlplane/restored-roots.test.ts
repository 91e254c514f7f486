import { splitCertificates } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { backupSecrets, restoredRoot } from "../backup/secrets.ts";
import type { ControlPlaneSpec } from "../runtime.ts";
import { newRoot } from "./new-root.ts";
import { rotatingOf, rotationOf } from "./plan-authorities.ts";
import { nextSecret, rootData } from "./rotate-root.ts";
import {
  bundleOf,
  rootOf,
  rotatedPurposes,
  rotationAnnotation,
  stageAnnotation,
  type AuthorityFacts,
  type Root,
  type RootStage,
  type RotatedPurpose,
} from "./roots.ts";

const now = Date.UTC(2026, 0, 1);
const rotation = "2026-01-01T00:00:00Z";

/** The Secret of a root that went through a rotation up to this stage. */
async function rootIn(purpose: RotatedPurpose, stage: RootStage): Promise<Root> {
  const pair = await newRoot(purpose, "web", now);
  const metadata = { name: `web-${purpose}`, namespace: "default" };
  let secret: Secret = { apiVersion: "v1", kind: "Secret", metadata, data: rootData(purpose, pair, undefined) };
  const order = ["trust", "sign", "retire"] as const;
  for (const to of stage === "single" ? [] : order.slice(0, order.indexOf(stage) + 1)) {
    const made = to === "trust" ? await newRoot(purpose, "web", now) : undefined;
    secret = nextSecret({ type: "rotate-root", purpose, to, rotation }, { root: known(rootOf(secret)), made, now });
  }
  return known(rootOf(secret));
}

function known(root: Root | undefined): Root {
  if (root === undefined) throw new Error("no root");
  return root;
}

/** What runs with these roots, as far as backups and programs know them. */
function specOf(roots: AuthorityFacts["roots"]): ControlPlaneSpec {
  const facts: AuthorityFacts = { roots, createdAt: now, expiresAt: now, machines: [] };
  const { ca, sa, proxy } = roots;
  return {
    authority: ca.pair,
    serviceAccountKey: sa.pair.key,
    ...(proxy === undefined ? {} : { frontProxy: { certificate: bundleOf(proxy), key: proxy.pair.key } }),
    ...rotationOf(facts),
    ...rotatingOf(facts),
  } as ControlPlaneSpec;
}

/** The Secret that a restore creates. */
function restored(purpose: RotatedPurpose, secrets: ReturnType<typeof backupSecrets>): Root {
  const { pair, rotating } = restoredRoot(secrets, purpose);
  const annotations = rotating && { [stageAnnotation]: rotating.stage, [rotationAnnotation]: rotating.rotation };
  const metadata = { name: `copy-${purpose}`, namespace: "default", ...(annotations ? { annotations } : {}) };
  return known(rootOf({ apiVersion: "v1", kind: "Secret", metadata, data: rootData(purpose, pair, rotating?.other) }));
}

describe("the roots of a control plane that is restored", () => {
  test.each<[RootStage, RootStage]>([
    ["single", "single"],
    ["trust", "trust"],
    ["sign", "sign"],
    ["retire", "retire"],
    // A backup in the middle of a stage: some roots are one ahead of the others.
    ["trust", "single"],
    ["sign", "trust"],
    ["retire", "sign"],
  ])("are those of the backup in stages %s and %s, and continue from there", async (first, rest) => {
    const [ca, sa, proxy] = await Promise.all([rootIn("ca", first), rootIn("sa", rest), rootIn("proxy", rest)]);
    const before = { ca, sa, proxy };
    const secrets = backupSecrets(specOf(before), "the key");
    for (const purpose of rotatedPurposes) {
      const { secret: _before, ...expected } = before[purpose];
      const { secret: _after, ...found } = restored(purpose, secrets);
      expect(found).toEqual(expected);
    }
    const after = { ca: restored("ca", secrets), sa: restored("sa", secrets), proxy: restored("proxy", secrets) };
    expect(specOf(after)).toEqual(specOf(before));
  });

  test("in the middle of a rotation have both pairs, with their keys", async () => {
    const roots = {
      ca: await rootIn("ca", "trust"),
      sa: await rootIn("sa", "trust"),
      proxy: await rootIn("proxy", "trust"),
    };
    const secrets = backupSecrets(specOf(roots), "");
    for (const purpose of rotatedPurposes) {
      const root = restored(purpose, secrets);
      expect(new Set([root.pair.key, root.other?.key]).size).toBe(2);
      expect(splitCertificates(root.pair.certificate).length).toBe(purpose === "sa" ? 0 : 1);
    }
  });

  test("are refused when a backup has half of a rotation", async () => {
    const roots = {
      ca: await rootIn("ca", "sign"),
      sa: await rootIn("sa", "sign"),
      proxy: await rootIn("proxy", "sign"),
    };
    const { "ca.other.key": _lost, ...secrets } = backupSecrets(specOf(roots), "");
    expect(() => restoredRoot(secrets, "ca")).toThrow(expect.objectContaining({ code: "BACKUP_INCOMPLETE" }) as Error);
  });

  test("are the signing ones of a backup of an earlier version", async () => {
    const roots = {
      ca: await rootIn("ca", "trust"),
      sa: await rootIn("sa", "trust"),
      proxy: await rootIn("proxy", "trust"),
    };
    const { rotating: _new, ...old } = specOf(roots);
    const secrets = backupSecrets(old as ControlPlaneSpec, "");
    expect(restored("ca", secrets)).toMatchObject({ stage: "single", pair: roots.ca.pair });
  });
});

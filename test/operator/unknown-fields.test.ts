/** Fields of an OpenStackDeployment that its schema does not have, as kubectl and as another client send them. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operatorKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { minimal } from "./world.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

let server: ApiServer;
let dir = "";

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "unknown-fields-"));
  server = await startApiServer({ crds: operatorKinds.map(toCustomResourceDefinition) });
  writeFileSync(join(dir, "kubeconfig"), await server.management.kubeconfig(), { mode: 0o600 });
});
afterAll(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

/** A manifest with a field more at each place that the path names. */
function manifest(name: string, spec: object): string {
  const path = join(dir, `${name}.json`);
  const object = { apiVersion: "openstack.causeway.dev/v1alpha1", kind: "OpenStackDeployment", metadata: { name } };
  writeFileSync(path, JSON.stringify({ ...object, spec: { ...minimal, ...spec } }));
  return path;
}

/** The server is in this process: nothing may wait for the command without it. */
function kubectl(...args: string[]): Promise<{ code: number; said: string }> {
  const env = { ...process.env, KUBECONFIG: join(dir, "kubeconfig"), HOME: dir };
  return new Promise((resolve) => {
    execFile("kubectl", args, { env, timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, said: `${stdout}${stderr}` }),
    );
  });
}

const [control, ...others] = minimal.nodeGroups;
/** Name, specification, and the path as it is in a request, and as server-side apply has it, by keys of lists. */
const UNKNOWN = [
  ["top", { regoin: "RegionTwo" }, "spec.regoin", ".spec.regoin"],
  [
    "group",
    { nodeGroups: [{ ...control, rolse: ["Network"] }, ...others] },
    "spec.nodeGroups[0].rolse",
    '.spec.nodeGroups[name="control"].rolse',
  ],
  [
    "option",
    { services: [{ name: "nova", configuratoin: [] }] },
    "spec.services[0].configuratoin",
    '.spec.services[name="nova"].configuratoin',
  ],
] as const;

describe.skipIf(!hasKubectl)("a field that the schema of an OpenStackDeployment does not have", () => {
  test.each(UNKNOWN)("is refused with its path before anything is written: %s", async (name, spec, path, byKeys) => {
    for (const how of [[], ["--server-side"]]) {
      const { code, said } = await kubectl("apply", ...how, "-f", manifest(name, spec));
      expect(code).toBe(1);
      expect(said).toContain(how.length === 0 ? `unknown field "${path}"` : `${byKeys}: field not declared in schema`);
      expect((await kubectl("get", "openstackdeployment", name)).said).toContain("not found");
    }
  });

  test.each(UNKNOWN)(
    "is dropped with a warning that has its path where the client wants no more than that: %s",
    async (name, spec, path) => {
      // The server's own default, for clients without an opinion.
      const { code, said } = await kubectl("create", "--validate=warn", "-f", manifest(name, spec));
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(said).toContain(`Warning: unknown field "${path}"`);
      const kept = await kubectl("get", "openstackdeployment", name, "-o", "json");
      expect(kept.said).toContain('"RegionOne"');
      expect(kept.said).not.toContain(path.split(".").at(-1));
    },
  );
});

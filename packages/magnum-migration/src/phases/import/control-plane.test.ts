import { HostedControlPlane, type MagnumCluster } from "@causeway/api";
import { desiredManifests, nothingStands } from "@causeway/magnum-api";
import { expect, test } from "vitest";
import { magnumClusterOf } from "../../record/rows.ts";
import { inventory, record } from "../../testing/planned.ts";
import { clusterManifests } from "./objects.ts";

const keystone = { authUrl: "https://keystone.example.org/v3", certificateAuthority: "PEM" };

/** The HostedControlPlane that import writes for a cluster with these labels, and the one that the Magnum API wants. */
function controlPlanesOf(labels: Record<string, string>) {
  const discovered = {
    ...record,
    inventory: { ...inventory, projectId: "p1", labels, template: {}, groups: [] },
  };
  const made = magnumClusterOf(discovered, "import", "2026-11-01T12:00:00Z");
  const row: MagnumCluster = { ...made, metadata: { ...made.metadata, uid: "o" } };
  const given = { members: [], peerHost: "192.0.2.9", cloudsYaml: "clouds: {}", keystone };
  const isControlPlane = ({ object }: { readonly object: { readonly kind: string } }) =>
    object.kind === HostedControlPlane.kind;
  const find = (manifests: ReturnType<typeof desiredManifests>) =>
    manifests.find(isControlPlane)?.object as unknown as HostedControlPlane;
  const written = find(clusterManifests(discovered, row, given));
  return { written, wanted: find(desiredManifests(row, keystone, { ...nothingStands, controlPlane: written })) };
}

const flags = {
  keystone_auth_enabled: "true",
  admission_control_list: "NodeRestriction,AlwaysPullImages",
  kubeapi_options: "--default-not-ready-toleration-seconds=30",
  kubecontroller_options: "--terminated-pod-gc-threshold=100",
};

test.each([
  ["flags, admission plugins and Keystone", flags],
  ["no labels", {}],
  ["Keystone turned off", { keystone_auth_enabled: "false" }],
])("retire changes no field of the control plane that import writes with %s", (_, labels) => {
  const { written, wanted } = controlPlanesOf(labels);
  // The Magnum API applies its fields over what there is.
  expect({ ...written.spec, ...wanted.spec }).toEqual(written.spec);
  // Beyond them the migration writes where the cluster has been, and nothing that a label decides.
  const { endpoint: _endpoint, names: _names, datastore: _datastore, runtime: _runtime, ...rest } = written.spec;
  expect(rest).toEqual(wanted.spec);
});

test("the imported control plane has the flags, the admission plugins and Keystone of its labels", () => {
  const { spec } = controlPlanesOf(flags).written;
  expect(spec.flags).toEqual({
    apiServer: { defaultNotReadyTolerationSeconds: 30, enableAdmissionPlugins: ["AlwaysPullImages"] },
    controllerManager: { terminatedPodGCThreshold: 100 },
  });
  expect(spec.authentication?.keystone).toMatchObject({
    authURL: keystone.authUrl,
    certificateAuthority: "PEM",
    projects: ["p1"],
  });
});

test.each([
  [{}, true],
  [{ keystone_auth_enabled: "" }, true],
  [{ keystone_auth_enabled: "True" }, true],
  [{ keystone_auth_enabled: "false" }, false],
])("with labels %j Keystone's tokens are accepted as the driver did: %s", (labels, expected) => {
  expect(controlPlanesOf(labels as Record<string, string>).written.spec.authentication !== undefined).toBe(expected);
});

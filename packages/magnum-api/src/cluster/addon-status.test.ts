import type { AddonSet } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { plan } from "./plan.ts";
import { clusterOf, NOW, settled, type Given } from "../testing/observed.ts";
import type { Observed } from "./gather.ts";

type Status = NonNullable<AddonSet["status"]>;
type Addon = NonNullable<Status["addons"]>[number];

const managed: Given["spec"] = { addons: "Managed" };
const addon = (name: string, state: Addon["state"] = "Applied", message = "", code?: string): Addon => ({
  name,
  state,
  message,
  ...(code === undefined ? {} : { code }),
});
const condition = (type: string, status: "True" | "False" | "Unknown", reason: string = type, message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-11-01T10:00:00Z",
});
const works = ["flannel", "kube-proxy", "coredns"].map((name) => addon(name));
const instead = (...other: Addon[]) => works.map((one) => other.find(({ name }) => name === one.name) ?? one);

/** A cluster of which everything but its add-ons is as it is to be. */
function withAddons(status: object | undefined, given: Given = {}): Observed {
  const observed = settled({ ...given, spec: { ...managed, ...given.spec } });
  const set = observed.standing.find(({ kind }) => kind === "AddonSet") as AddonSet;
  const base = { observedGeneration: 1, version: observed.object.spec.version, addons: works };
  const conditions = [condition("Applied", "True"), condition("Healthy", "True")];
  const whole = status === undefined ? undefined : { conditions, ...base, ...status };
  return { ...observed, addonSet: { ...set, ...(whole ? { status: whole } : {}) } as unknown as AddonSet };
}

const created = { created: true, status: "CREATE_COMPLETE", observedGeneration: 2 };
const changed = { ...created, observedGeneration: 1 };
const pulls =
  "Deployment kube-system/coredns: 0 of 2 pods are available: pod coredns-1: ImagePullBackOff: no such image";
const sick = { addons: instead(addon("coredns", "Unhealthy", pulls)) };
const noNodes = (observed: Observed): Observed => ({
  ...observed,
  machines: [],
  deployments: observed.deployments.map((one) => ({
    ...one,
    spec: { ...one.spec, replicas: 0 },
    status: { ...one.status, replicas: 0, readyReplicas: 0, upToDateReplicas: 0 },
  })),
});

describe("the add-ons in the state of a cluster", () => {
  it.each<[string, Observed, string, string]>([
    ["complete where they work", withAddons({}), "CREATE_COMPLETE", "completed successfully"],
    ["in progress until they are reconciled", withAddons(undefined), "CREATE_IN_PROGRESS", "waiting for the add-ons"],
    ["in progress while one does not work", withAddons(sick), "CREATE_IN_PROGRESS", "no such image (ADDON_UNHEALTHY)"],
    [
      "the first of them that the others need is the cause",
      withAddons({
        addons: [addon("coredns", "Unhealthy", "b"), addon("flannel", "Unhealthy", "a"), addon("kube-proxy")],
      }),
      "CREATE_IN_PROGRESS",
      "add-on flannel: a (ADDON_UNHEALTHY)",
    ],
    [
      "failed with the cause when the time is over",
      withAddons(sick, { metadata: { creationTimestamp: "2026-11-01T10:00:00Z" } }),
      "CREATE_FAILED",
      "no such image (ADDON_UNHEALTHY)",
    ],
    [
      "what users' own pods say is shown as it is",
      withAddons({
        addons: instead(
          addon(
            "coredns",
            "Unhealthy",
            "pod magnum-p/a: no quay.io/magnum-ci/app:1 at https://quay.io/v2, 10.0.0.9:5000",
          ),
        ),
      }),
      "CREATE_IN_PROGRESS",
      "add-on coredns: pod magnum-p/a: no quay.io/magnum-ci/app:1 at https://quay.io/v2, 10.0.0.9:5000 (ADDON_UNHEALTHY)",
    ],
    [
      "complete again when the cause is gone",
      withAddons({}, { status: { status: "CREATE_FAILED", observedGeneration: 2 } }),
      "CREATE_COMPLETE",
      "completed successfully",
    ],
    [
      "pods need nodes: none are requested from a cluster without",
      noNodes(withAddons(sick, { spec: { nodeGroups: [] } })),
      "CREATE_COMPLETE",
      "completed",
    ],
    [
      "what another AddonSet has is that one's affair",
      withAddons({
        addons: instead(
          addon(
            "coredns",
            "Failed",
            "Deployment a belongs to AddonSet b (ADDON_OBJECT_OF_ANOTHER_SET)",
            "ADDON_OBJECT_OF_ANOTHER_SET",
          ),
        ),
      }),
      "CREATE_COMPLETE",
      "completed",
    ],
    [
      "not connected yet",
      withAddons({
        conditions: [
          condition("Applied", "False", "WaitingForConnection", "not connected"),
          condition("Healthy", "Unknown", "WaitingForConnection", "not connected"),
        ],
      }),
      "CREATE_IN_PROGRESS",
      "waiting for the add-ons: the control plane is not connected yet",
    ],
    [
      "an upgrade is not complete with the add-ons of before",
      withAddons({ version: "v1.33.0" }, { status: changed }),
      "UPDATE_IN_PROGRESS",
      "add-ons of Kubernetes v1.34.0",
    ],
    [
      "an update is not complete while one does not work",
      withAddons(sick, { status: changed }),
      "UPDATE_IN_PROGRESS",
      "no such image",
    ],
    ["complete remains so when one breaks later", withAddons(sick, { status: created }), "CREATE_COMPLETE", ""],
    [
      "an update does not wait for what did not work before it",
      withAddons(sick, { status: { ...changed, addonsFailed: true } }),
      "UPDATE_COMPLETE",
      "completed",
    ],
    [
      "errors of the operator's cluster are not shown",
      withAddons({
        addons: instead(
          addon("coredns", "Failed", "install x: connect 10.0.0.9 (KUBERNETES_UNREACHABLE)", "KUBERNETES_UNREACHABLE"),
        ),
      }),
      "CREATE_IN_PROGRESS",
      "add-on coredns: the cluster's API refused an object; the operator's log has the reason: KUBERNETES_UNREACHABLE (ADDON_FAILED)",
    ],
    [
      "a code of an add-on is the cluster's code, and occurs once in the reason",
      withAddons({
        addons: instead(
          addon("coredns", "Failed", "a cannot be changed (ADDON_OBJECT_IMMUTABLE)", "ADDON_OBJECT_IMMUTABLE"),
        ),
      }),
      "CREATE_IN_PROGRESS",
      "add-on coredns: a cannot be changed (ADDON_OBJECT_IMMUTABLE)",
    ],
  ])("%s", (_, observed, status, reason) => {
    const found = plan(observed, NOW).status;
    expect(found.status).toBe(status);
    expect(found.reason ?? "").toContain(reason);
  });

  it.each<[string, object, string]>([
    [
      "objects of the management cluster that lack a source",
      {
        addons: instead(
          addon("coredns", "Failed", "Secret own does not exist (ADDON_SOURCE_MISSING)", "ADDON_SOURCE_MISSING"),
        ),
      },
      "add-on coredns: it cannot be installed; the operator's log has the reason (ADDON_SOURCE_MISSING)",
    ],
    [
      "what Argo CD reports",
      { addons: instead(addon("coredns", "Failed", "Argo CD: ComparisonError: repo https://git.internal is away")) },
      "add-on coredns: it cannot be installed; the operator's log has the reason (ADDON_FAILED)",
    ],
    [
      "the reason of the add-on that another one waits for",
      {
        addons: instead(
          addon("flannel", "Waiting", "waits for add-on x of wave 0: connect 10.0.0.9:6443 (KUBERNETES_UNREACHABLE)"),
        ),
      },
      "add-on flannel: waits for add-on x of wave 0",
    ],
    [
      "the reason of the set as a whole",
      {
        conditions: [
          condition("Applied", "False", "ADDON_ARGO_CD_NAME_TAKEN", "Secret argocd/web exists"),
          condition("Healthy", "Unknown", "ADDON_ARGO_CD_NAME_TAKEN", "Secret argocd/web exists"),
        ],
      },
      "waiting for the add-ons; the operator's log has the reason: ADDON_ARGO_CD_NAME_TAKEN",
    ],
  ])("do not show %s", (_, status, reason) => {
    expect(plan(withAddons(status), NOW).status.reason).toBe(reason);
  });

  it("make a cluster unhealthy, and are remembered for its next change", () => {
    const { status } = plan(withAddons(sick, { status: created }), NOW);
    expect(status).toMatchObject({ health: "UNHEALTHY", addonsFailed: true });
    expect(status.healthReason?.["addons"]).toContain("no such image");
    const next = plan(withAddons(sick, { status: { ...changed, addonsFailed: true } }), NOW).status;
    expect(next.addonsFailed).toBe(true);
    expect(plan(withAddons({}, { status: { ...created, addonsFailed: true } }), NOW).status).not.toHaveProperty(
      "addonsFailed",
    );
  });

  it("that made a change fail do not hold up the next one", () => {
    const failed = { ...changed, status: "UPDATE_FAILED", code: "ADDON_UNHEALTHY" };
    expect(plan(withAddons(sick, { status: failed }), NOW).status.addonsFailed).toBe(true);
    const other = { ...failed, code: "QuotaExceeded" };
    expect(plan(withAddons(sick, { status: other }), NOW).status).not.toHaveProperty("addonsFailed");
  });

  it("come to a cluster that was complete without being a change of it", () => {
    const observed = settled({ status: created, spec: managed });
    const standing = observed.standing.filter(({ kind }) => kind !== "AddonSet");
    const { steps, status } = plan({ ...observed, standing, addonSet: undefined }, NOW);
    expect(steps).toMatchObject([{ type: "apply", name: "AddonSet web-addons" }]);
    expect(status).toMatchObject({ status: "CREATE_COMPLETE" });
    expect(status).not.toHaveProperty("changingSince");
  });

  it("are withdrawn from a cluster that is to keep its own", () => {
    const before = settled({ status: created, spec: managed });
    const object = clusterOf({ status: created, spec: { addons: "Own" } });
    expect(plan({ ...before, object }, NOW).steps).toEqual([{ type: "delete-addons", name: "web-addons" }]);
  });
});

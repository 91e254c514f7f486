import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, done, invalid, made } from "./shorthands.ts";

const CONTAINERS = [{ name: "c", image: "i" }];

/** Pods need the account that kube-controller-manager makes in each namespace. */
async function account({ api, core }: Context): Promise<void> {
  await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
}

function pod(spec: Json): Json {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec };
}

function deployment(more: Json = {}, labels: Json = { a: "b" }): Json {
  const template = { metadata: { labels }, spec: { containers: CONTAINERS } };
  const spec = { selector: { matchLabels: { a: "b" } }, template, ...more };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec };
}

export const workloads: CaseGroup = {
  title: "pods, workloads and events",
  cases: [
    {
      name: "a pod is filled in and pending",
      async run(c) {
        await account(c);
        const body = await made(c.api.post(c.core("pods"), pod({ containers: CONTAINERS })));
        expect(body["spec"]).toMatchObject({
          containers: [{ name: "c", image: "i", imagePullPolicy: "Always", terminationMessagePolicy: "File" }],
          dnsPolicy: "ClusterFirst",
          enableServiceLinks: true,
          restartPolicy: "Always",
          schedulerName: "default-scheduler",
          securityContext: {},
          terminationGracePeriodSeconds: 30,
        });
        expect(body["status"]).toEqual({ phase: "Pending", qosClass: "BestEffort" });
      },
    },
    {
      name: "a pod is given its account's token to mount",
      except: { server: "causeway", reason: "it runs no pods, and gives them no tokens, tolerations or priorities" },
      async run(c) {
        await account(c);
        const body = await made(c.api.post(c.core("pods"), pod({ containers: CONTAINERS })));
        expect(body["spec"]).toMatchObject({ serviceAccountName: "default", priority: 0 });
        expect(at(body, "spec", "volumes", 0, "name")).toMatch(/^kube-api-access-/);
      },
    },
    {
      name: "an invalid pod is rejected with the problems of each container",
      async run(c) {
        await account(c);
        invalid(await c.api.post(c.core("pods"), pod({ containers: [] })), "spec.containers: Required value");
        invalid(
          await c.api.post(c.core("pods"), pod({ containers: [{ name: "c", image: "" }], restartPolicy: "X" })),
          "spec.containers[0].image: Required value",
          'spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"',
        );
      },
    },
    {
      name: "a pod is bound to a node once",
      async run(c) {
        await account(c);
        await made(c.api.post(c.core("pods"), pod({ containers: CONTAINERS })));
        const binding = {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name: "p" },
          target: { kind: "Node", name: "n" },
        };
        expect((await c.api.post(`${c.core("pods", "p")}/binding`, binding)).code).toBe(201);
        expect(at((await c.api.get(c.core("pods", "p"))).body, "spec", "nodeName")).toBe("n");
        expect((await c.api.post(`${c.core("pods", "p")}/binding`, binding)).code).toBe(409);
      },
    },
    {
      name: "a deployment is filled in",
      async run({ api, apis }) {
        const body = await made(api.post(apis("apps/v1", "deployments"), deployment()));
        expect(body["spec"]).toMatchObject({
          replicas: 1,
          revisionHistoryLimit: 10,
          progressDeadlineSeconds: 600,
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
        });
        expect(at(body, "metadata", "generation")).toBe(1);
        expect(at(body, "spec", "template", "spec", "enableServiceLinks")).toBeUndefined();
      },
    },
    {
      name: "a deployment whose selector does not choose its pods, or of fewer than none, is refused",
      async run({ api, apis }) {
        invalid(
          await api.post(apis("apps/v1", "deployments"), deployment({}, { a: "c" })),
          'spec.template.metadata.labels: Invalid value: {"a":"c"}: `selector` does not match template `labels`',
        );
        invalid(
          await api.post(apis("apps/v1", "deployments"), deployment({ replicas: -1 })),
          "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        );
      },
    },
    {
      name: "a deployment keeps its selector",
      async run({ api, apis }) {
        const labels = { a: "b", c: "d" };
        await made(api.post(apis("apps/v1", "deployments"), deployment({}, labels)));
        invalid(
          await api.patch(apis("apps/v1", "deployments", "d"), "merge", {
            spec: { selector: { matchLabels: { c: "d" } } },
          }),
          'spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable',
        );
      },
    },
    {
      name: "a deployment is scaled",
      async run({ api, apis }) {
        await made(api.post(apis("apps/v1", "deployments"), deployment()));
        const path = apis("apps/v1", "deployments", "d");
        const scale = await done(api.patch(`${path}/scale`, "merge", { spec: { replicas: 4 } }));
        expect(scale).toMatchObject({ kind: "Scale", spec: { replicas: 4 }, status: { selector: "a=b" } });
        expect(at((await api.get(path)).body, "spec", "replicas")).toBe(4);
      },
    },
    {
      name: "an event is in the namespace of what it is about",
      async run({ api, core, namespace }) {
        const event = (about: string): Json => ({
          apiVersion: "v1",
          kind: "Event",
          metadata: { name: "e" },
          involvedObject: { kind: "Pod", name: "x", namespace: about },
          reason: "R",
          message: "m",
          type: "Normal",
        });
        invalid(
          await api.post(core("events"), event("other")),
          'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
        );
        await made(api.post(core("events"), event(namespace)));
      },
    },
    ...(
      [
        ["networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", { podSelector: {} }],
        ["policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", { minAvailable: 1, selector: {} }],
        [
          "networking.k8s.io/v1",
          "ingresses",
          "Ingress",
          { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
        ],
      ] as const
    ).map(([apiVersion, plural, kind, spec]) => ({
      name: `a ${kind} is kept`,
      async run({ api, apis }: Context) {
        const body = await made(
          api.post(apis(apiVersion, plural), { apiVersion, kind, metadata: { name: "x" }, spec }),
        );
        expect(body["spec"]).toMatchObject(spec);
        expect(at(body, "metadata", "generation")).toBe(1);
      },
    })),
  ],
};

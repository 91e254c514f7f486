import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { at, done, eventually, made, refused } from "./shorthands.ts";

const record = (value: unknown): Json => (value ?? {}) as Json;
const CONTAINERS = [{ name: "c", image: "i" }];
const SCHEDULING = "/apis/scheduling.k8s.io/v1/priorityclasses";

/** Pods need the account that kube-controller-manager makes in each namespace. */
async function account({ api, core }: Context, more: Json = {}, name = "default"): Promise<void> {
  await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name }, ...more });
}

function pod(spec: Json = {}, name = "p"): Json {
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers: CONTAINERS, ...spec } };
}

function priorityClass(name: string, more: Json): Json {
  return { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, ...more };
}

/** Makes pods until `probe` likes one: servers hear of what was just written a little later. */
async function seenBy(context: Context, given: Json, probe: (code: number, body: Json) => boolean): Promise<Json> {
  return eventually(async () => {
    const { code, body } = await context.api.post(`${context.core("pods")}?dryRun=All`, given);
    return probe(code, body) ? body : undefined;
  }, "what admission goes by");
}

const accounts: ContractCase[] = [
  {
    name: "a pod gets its account, with its token as a volume",
    async run(c) {
      await account(c);
      const { spec } = (await made(c.api.post(c.core("pods"), pod()))) as { spec: Json };
      expect(spec).toMatchObject({ serviceAccountName: "default", serviceAccount: "default" });
      const name = at(spec, "volumes", 0, "name");
      expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
      expect(spec["volumes"]).toEqual([
        {
          name,
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
              { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
              {
                downwardAPI: {
                  items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
                },
              },
            ],
          },
        },
      ]);
      const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
      expect(at(spec, "containers", 0, "volumeMounts")).toEqual([{ name, readOnly: true, mountPath }]);
    },
  },
  {
    name: "fields that admission sets on a pod have no field manager",
    async run(c) {
      await account(c);
      const body = await made(c.api.post(`${c.core("pods")}?fieldManager=m`, pod()));
      const owners = at(body, "metadata", "managedFields") as Json[];
      expect(owners.map((o) => o["manager"])).toEqual(["m"]);
      const owned = Object.keys(at(owners, 0, "fieldsV1", "f:spec") as Json);
      expect(owned.filter((f) => /serviceAccount|priority|tolerations|volumes|preemption/i.test(f))).toEqual([]);
    },
  },
  {
    name: "a pod or its account may do without the token",
    async run(c) {
      await account(c);
      await account(c, { automountServiceAccountToken: false }, "quiet");
      const own = await made(c.api.post(c.core("pods"), pod({ automountServiceAccountToken: false }, "a")));
      expect(at(own, "spec", "volumes")).toBeUndefined();
      const quiet = await seenBy(c, pod({ serviceAccountName: "quiet" }, "b"), (code) => code === 201);
      expect(at(quiet, "spec", "volumes")).toBeUndefined();
      const asked = pod({ serviceAccountName: "quiet", automountServiceAccountToken: true }, "c");
      expect(at(await made(c.api.post(c.core("pods"), asked)), "spec", "volumes")).toHaveLength(1);
    },
  },
  {
    name: "a container that mounts something there keeps it",
    async run(c) {
      await account(c);
      const volumeMounts = [{ name: "v", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }];
      const spec = { containers: [{ ...CONTAINERS[0], volumeMounts }], volumes: [{ name: "v", emptyDir: {} }] };
      const body = await made(c.api.post(c.core("pods"), pod(spec)));
      expect(at(body, "spec", "volumes")).toEqual([{ name: "v", emptyDir: {} }]);
    },
  },
  {
    name: "a pod takes over its account's pull secrets",
    async run(c) {
      await account(c, { imagePullSecrets: [{ name: "pull" }] }, "puller");
      const body = await made(c.api.post(c.core("pods"), pod({ serviceAccountName: "puller" })));
      expect(at(body, "spec", "imagePullSecrets")).toEqual([{ name: "pull" }]);
    },
  },
  {
    name: "a pod of an account that is not there is refused",
    async run(c) {
      const answer = await c.api.post(c.core("pods"), pod({ serviceAccountName: "missing" }));
      refused(
        answer,
        403,
        "Forbidden",
        `pods "p" is forbidden: error looking up service account ${c.namespace}/missing: serviceaccount "missing" not found`,
      );
    },
  },
  {
    name: "an account that says so lets its pods have its own secrets only",
    async run(c) {
      const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" };
      await c.api.post(c.core("serviceaccounts"), {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "strict", annotations },
        secrets: [{ name: "own" }],
      });
      const volumes = (secretName: string): Json => ({
        serviceAccountName: "strict",
        volumes: [{ name: "v", secret: { secretName } }],
      });
      await made(c.api.post(c.core("pods"), pod(volumes("own"), "a")));
      refused(
        await c.api.post(c.core("pods"), pod(volumes("other"), "b")),
        403,
        "Forbidden",
        'pods "b" is forbidden: volume with secret.secretName="other" is not allowed because service account strict does not reference that secret',
      );
    },
  },
];

const priorities: ContractCase[] = [
  {
    name: "the priorities of what a cluster cannot do without are there",
    async run({ api }) {
      expect(await done(api.get(`${SCHEDULING}/system-node-critical`))).toMatchObject({ value: 2_000_001_000 });
      expect(await done(api.get(`${SCHEDULING}/system-cluster-critical`))).toMatchObject({ value: 2_000_000_000 });
    },
  },
  {
    name: "a pod has the priority of its class",
    async run(c) {
      await account(c);
      const name = c.unique("high");
      await made(c.api.post(SCHEDULING, priorityClass(name, { value: 7, preemptionPolicy: "Never" })));
      const body = await seenBy(c, pod({ priorityClassName: name }), (code) => code === 201);
      expect(body["spec"]).toMatchObject({ priorityClassName: name, priority: 7, preemptionPolicy: "Never" });
      refused(
        await c.api.post(c.core("pods"), pod({ priorityClassName: name, priority: 8 })),
        403,
        "Forbidden",
        'pods "p" is forbidden: the integer value of priority (8) must not be provided in pod spec; priority admission controller computed 7 from the given PriorityClass name',
      );
      refused(
        await c.api.post(c.core("pods"), pod({ priorityClassName: name, preemptionPolicy: "PreemptLowerPriority" })),
        403,
        "Forbidden",
        'pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
      );
      await done(c.api.delete(`${SCHEDULING}/${name}`));
    },
  },
  {
    name: "a pod without a class has none, and keeps it when it is written again",
    async run(c) {
      await account(c);
      const body = await made(c.api.post(c.core("pods"), pod()));
      expect(body["spec"]).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
      const { priority: _p, preemptionPolicy: _o, tolerations: _t, ...spec } = body["spec"] as Json;
      const again = await done(c.api.put(c.core("pods", "p"), { ...body, spec }));
      expect(again["spec"]).toEqual(body["spec"]);
    },
  },
  {
    name: "a pod of a class that is not there is refused",
    async run(c) {
      await account(c);
      refused(
        await c.api.post(c.core("pods"), pod({ priorityClassName: "none" })),
        403,
        "Forbidden",
        'pods "p" is forbidden: no PriorityClass with name none was found',
      );
    },
  },
  {
    name: "one class is the default, for pods that name none",
    async run(c) {
      await account(c);
      const name = c.unique("usual");
      await made(c.api.post(SCHEDULING, priorityClass(name, { value: 3, globalDefault: true })));
      try {
        const body = await seenBy(c, pod(), (_code, seen) => at(seen, "spec", "priorityClassName") === name);
        expect(at(body, "spec", "priority")).toBe(3);
        const second = priorityClass(`${name}-2`, { value: 4, globalDefault: true });
        refused(
          await c.api.post(SCHEDULING, second),
          403,
          "Forbidden",
          `priorityclasses.scheduling.k8s.io "${name}-2" is forbidden: PriorityClass ${name} is already marked as default. Only one default can exist`,
        );
      } finally {
        await c.api.delete(`${SCHEDULING}/${name}`);
        await seenBy(c, pod(), (_code, seen) => at(seen, "spec", "priorityClassName") !== name);
      }
    },
  },
];

const TOLERATED = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map((key) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

const tolerations: ContractCase[] = [
  {
    name: "a pod remains for a time on a node that went away",
    async run(c) {
      await account(c);
      expect(at(await made(c.api.post(c.core("pods"), pod())), "spec", "tolerations")).toEqual(TOLERATED);
    },
  },
  {
    name: "a pod that says how long it tolerates what keeps that",
    async run(c) {
      await account(c);
      const own = {
        key: "node.kubernetes.io/not-ready",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 5,
      };
      const body = await made(c.api.post(c.core("pods"), pod({ tolerations: [own] })));
      expect(at(body, "spec", "tolerations")).toEqual([own, TOLERATED[1]]);
      const all = await made(c.api.post(c.core("pods"), pod({ tolerations: [{ operator: "Exists" }] }, "all")));
      expect(at(all, "spec", "tolerations")).toEqual([{ operator: "Exists" }]);
    },
  },
];

function limitRange(...limits: Json[]): Json {
  return { apiVersion: "v1", kind: "LimitRange", metadata: { name: "l" }, spec: { limits } };
}

const within = (resources: Json): Json => ({ containers: [{ ...CONTAINERS[0], resources }] });

const LIMITS: readonly [string, Json, Json, string][] = [
  [
    "less than the least",
    { type: "Container", min: { cpu: "100m" } },
    { requests: { cpu: "50m" } },
    "minimum cpu usage per Container is 100m, but request is 50m",
  ],
  [
    "more than the most",
    { type: "Container", max: { memory: "1Gi" } },
    { limits: { memory: "2Gi" } },
    "maximum memory usage per Container is 1Gi, but limit is 2Gi",
  ],
  [
    "too far from what it asks",
    { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
    { requests: { cpu: "100m" }, limits: { cpu: "1" } },
    "cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000",
  ],
  [
    "more for the whole pod",
    { type: "Pod", max: { cpu: "1" } },
    { limits: { cpu: "1500m" } },
    "maximum cpu usage per Pod is 1, but limit is 1500m",
  ],
  [
    "nothing where the pod has a bound",
    { type: "Pod", max: { cpu: "1" } },
    {},
    "maximum cpu usage per Pod is 1.  No limit is specified",
  ],
];

const limits: ContractCase[] = [
  ...LIMITS.map(([what, limit, resources, why]): ContractCase => ({
    name: `a pod that wants ${what} is refused`,
    async run(c) {
      await account(c);
      await made(c.api.post(c.core("limitranges"), limitRange(limit)));
      const body = await seenBy(c, pod(within(resources)), (code) => code === 403);
      expect(body["message"]).toBe(`pods "p" is forbidden: ${why}`);
    },
  })),
  {
    name: "a container that asks for nothing gets what is usual",
    async run(c) {
      await account(c);
      await made(
        c.api.post(
          c.core("limitranges"),
          limitRange({ type: "Container", default: { cpu: "1", memory: "1Gi" }, defaultRequest: { cpu: "100m" } }),
        ),
      );
      const given = pod(within({ limits: { memory: "2Gi" } }));
      const body = await seenBy(c, given, (_code, seen) => at(seen, "metadata", "annotations") !== undefined);
      expect(at(body, "spec", "containers", 0, "resources")).toEqual({
        limits: { cpu: "1", memory: "2Gi" },
        requests: { cpu: "100m", memory: "2Gi" },
      });
    },
  },
  {
    name: "a claim that wants too much is refused",
    async run(c) {
      await made(
        c.api.post(
          c.core("limitranges"),
          limitRange({ type: "PersistentVolumeClaim", max: { storage: "1Gi" }, min: { storage: "1Mi" } }),
        ),
      );
      const claim = {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "v" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } },
      };
      const answer = await eventually(async () => {
        const answer = await c.api.post(`${c.core("persistentvolumeclaims")}?dryRun=All`, claim);
        return answer.code === 403 ? answer : undefined;
      }, "the limit");
      refused(
        answer,
        403,
        "Forbidden",
        'persistentvolumeclaims "v" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
      );
    },
  },
];

const storage: ContractCase[] = [
  {
    name: "claims, volumes and their classes are protected from the first moment, and no manager of fields owns the finalizer",
    async run(c) {
      const claimSpec = {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "",
        resources: { requests: { storage: "1Gi" } },
      };
      const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "v" }, spec: claimSpec };
      const volumeSpec = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/v" } };
      const volume = {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: c.unique("v") },
        spec: volumeSpec,
      };
      const attributes = {
        apiVersion: "storage.k8s.io/v1",
        kind: "VolumeAttributesClass",
        metadata: { name: c.unique("v") },
        driverName: "csi.example.com",
        parameters: { iops: "1" },
      };
      const rows: readonly (readonly [string, Json, string])[] = [
        [c.core("persistentvolumeclaims"), claim, "kubernetes.io/pvc-protection"],
        ["/api/v1/persistentvolumes", volume, "kubernetes.io/pv-protection"],
        ["/apis/storage.k8s.io/v1/volumeattributesclasses", attributes, "kubernetes.io/vac-protection"],
      ];
      for (const [path, given, finalizer] of rows) {
        const { metadata } = await made(c.api.post(`${path}?dryRun=All`, given));
        expect(at(metadata, "finalizers")).toEqual([finalizer]);
        expect(Object.keys(record(at(metadata, "managedFields", 0, "fieldsV1", "f:metadata")))).toEqual([]);
        const named = {
          ...given,
          metadata: { ...record(given["metadata"]), finalizers: ["example.com/x", finalizer] },
        };
        const kept = await made(c.api.post(`${path}?dryRun=All`, named));
        expect(at(kept, "metadata", "finalizers")).toEqual(["example.com/x", finalizer]);
      }
    },
  },
];

export const podAdmission: CaseGroup = {
  title: "admission of pods and volume claims",
  cases: [...accounts, ...priorities, ...tolerations, ...limits, ...storage],
};

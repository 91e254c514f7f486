import { expect } from "vitest";
import type { CaseGroup, Raw } from "../interface.ts";
import { configMap, eventually, made } from "./shorthands.ts";

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of one series name. */
async function samples(api: Raw, name: string): Promise<Sample[]> {
  const { text } = await api.get("/metrics");
  return text
    .split("\n")
    .map((line) => /^([a-z_:0-9]+)(?:\{(.*)\})? (\S+)$/i.exec(line))
    .filter((found) => found?.[1] === name)
    .map((found) => ({ labels: labelsOf(found?.[2] ?? ""), value: Number(found?.[3]) }));
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/([a-z_]+)="([^"]*)"/gi)].map(([, k = "", v = ""]) => [k, v]));
}

async function valueOf(api: Raw, name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const found = await samples(api, name);
  const isIt = (s: Sample): boolean => Object.entries(labels).every(([k, v]) => s.labels[k] === v);
  return found.filter(isIt).reduce((sum, s) => sum + s.value, 0);
}

/** By how much a series rises, read until it rises: samples are recorded when an answer has been sent. */
async function rise(api: Raw, series: readonly [string, Record<string, string>], work: () => Promise<unknown>) {
  const before = await valueOf(api, ...series);
  await work();
  return eventually(async () => {
    const after = await valueOf(api, ...series);
    return after > before ? after - before : undefined;
  }, series[0]);
}

const ROUTE = ["verb", "group", "version", "resource", "subresource", "scope", "component"];
const LABELS: Readonly<Record<string, readonly string[]>> = {
  apiserver_request_total: [...ROUTE, "dry_run", "code"],
  apiserver_request_duration_seconds_count: [...ROUTE, "dry_run"],
  apiserver_request_sli_duration_seconds_count: ROUTE,
  apiserver_response_sizes_count: ROUTE,
  apiserver_current_inflight_requests: ["request_kind"],
  apiserver_storage_objects: ["resource"],
  apiserver_resource_objects: ["group", "resource"],
  authenticated_user_requests: ["username"],
  authentication_attempts: ["result"],
  authentication_duration_seconds_count: ["result"],
  authorization_attempts_total: ["result"],
  authorization_duration_seconds_count: ["result"],
};
const PLAIN = [
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_virtual_memory_bytes",
  "process_start_time_seconds",
  "process_open_fds",
  "process_max_fds",
];
const BUCKETS: Readonly<Record<string, readonly string[]>> = {
  apiserver_request_duration_seconds: ["0.005", "0.025", "0.05", "1.25", "60", "+Inf"],
  apiserver_request_sli_duration_seconds: ["0.05", "0.1", "1.25", "60", "+Inf"],
  authentication_duration_seconds: ["0.001", "0.002", "16.384", "+Inf"],
};
const COUNT = { apiserver_request_duration_seconds: 24, apiserver_request_sli_duration_seconds: 22 } as const;

export const metrics: CaseGroup = {
  title: "metrics",
  cases: [
    {
      name: "metrics are in Prometheus' text format",
      async run({ api }) {
        const { code, headers, text } = await api.get("/metrics");
        expect(code).toBe(200);
        expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4; charset=utf-8/);
        expect(text).toMatch(/^# HELP apiserver_request_total \S/m);
        expect(text).toMatch(/^# TYPE apiserver_request_total counter$/m);
        expect(text).toMatch(/^# TYPE apiserver_request_duration_seconds histogram$/m);
      },
    },
    {
      name: "metrics need the right to get them",
      async run({ as }) {
        expect((await (await as({ user: "jane" })).get("/metrics")).code).toBe(403);
        expect((await (await as({ anonymous: true })).get("/metrics")).code).toBe(403);
      },
    },
    ...Object.entries(LABELS).map(([name, labels]) => ({
      name: `metric ${name} has its labels`,
      async run({ api }: { api: Raw }) {
        const found = await eventually(async () => (await samples(api, name))[0], name);
        expect(Object.keys(found.labels).toSorted()).toEqual([...labels].toSorted());
      },
    })),
    ...PLAIN.map((name) => ({
      name: `metric ${name} has a value and no labels`,
      async run({ api }: { api: Raw }) {
        const [found] = await samples(api, name);
        expect(found?.labels).toEqual({});
        expect(found?.value).toBeGreaterThan(0);
      },
    })),
    ...Object.entries(BUCKETS).map(([name, buckets]) => ({
      name: `metric ${name} has its buckets`,
      async run({ api }: { api: Raw }) {
        const found = await samples(api, `${name}_bucket`);
        const bounds = [...new Set(found.map((s) => s.labels["le"]))];
        expect(bounds).toEqual(expect.arrayContaining([...buckets]));
        expect(bounds.length).toBe((COUNT as Record<string, number>)[name] ?? 16);
      },
    })),
    {
      name: "metrics count a write under its route and code",
      async run({ api, core }) {
        const route = { verb: "POST", group: "", version: "v1", resource: "configmaps", scope: "resource" };
        const labels = { ...route, subresource: "", component: "apiserver", dry_run: "", code: "201" };
        const by = await rise(api, ["apiserver_request_total", labels], () =>
          made(api.post(core("configmaps"), configMap("a"))),
        );
        expect(by).toBeGreaterThanOrEqual(1);
      },
    },
    {
      name: "metrics count a dry run as one",
      async run({ api, core }) {
        const labels = { verb: "POST", resource: "configmaps", dry_run: "All", code: "201" };
        await rise(api, ["apiserver_request_total", labels], () =>
          api.post(`${core("configmaps")}?dryRun=All`, configMap("a")),
        );
      },
    },
    {
      name: "metrics count an apply as APPLY and a missing object as 404",
      async run({ api, core }) {
        const applied = { verb: "APPLY", resource: "configmaps", scope: "resource", code: "201" };
        await rise(api, ["apiserver_request_total", applied], () =>
          api.patch(`${core("configmaps", "b")}?fieldManager=m`, "apply", configMap("b")),
        );
        const missed = { verb: "GET", resource: "configmaps", scope: "resource", code: "404" };
        await rise(api, ["apiserver_request_total", missed], () => api.get(core("configmaps", "none")));
      },
    },
    {
      name: "metrics separate lists from gets, each with its scope",
      async run({ api, core }) {
        for (const [path, verb, scope] of [
          ["/api/v1/secrets", "LIST", "cluster"],
          [core("secrets"), "LIST", "namespace"],
          [core("secrets", "x"), "GET", "resource"],
        ] as const) {
          const labels = { verb, scope, resource: "secrets" };
          await rise(api, ["apiserver_request_total", labels], () => api.get(path));
          await rise(api, ["apiserver_response_sizes_count", labels], () => api.get(path));
        }
      },
    },
    {
      name: "metrics count events of a watch, and the watch while it is open",
      async run({ api, core }) {
        const open = { verb: "WATCH", resource: "configmaps", scope: "namespace", component: "apiserver" };
        const kind = { group: "", version: "v1", resource: "configmaps" };
        const before = await valueOf(api, "apiserver_longrunning_requests", open);
        const watch = await api.watch(`${core("configmaps")}?watch=1`);
        await eventually(async () =>
          (await valueOf(api, "apiserver_longrunning_requests", open)) > before ? true : undefined,
        );
        await rise(api, ["apiserver_watch_events_total", kind], () => api.post(core("configmaps"), configMap("c")));
        watch.close();
      },
    },
    {
      name: "metrics do not count paths that do not exist",
      async run({ api }) {
        await api.get("/apis/no.such/v1/phantoms");
        await api.get("/api/v1/nothings");
        const found = await samples(api, "apiserver_request_total");
        expect(found.filter((s) => ["phantoms", "nothings"].includes(s.labels["resource"] ?? ""))).toEqual([]);
      },
    },
    {
      name: "metrics have the work queues of controllers",
      async run({ api }) {
        const adds = await samples(api, "workqueue_adds_total");
        expect(adds.map((s) => s.labels["name"])).toContain("priority_and_fairness_config_queue");
        expect(adds.every((s) => Object.keys(s.labels).join() === "name")).toBe(true);
        expect((await samples(api, "workqueue_depth")).length).toBeGreaterThan(0);
      },
    },
    {
      name: "metrics have the time of admission controllers",
      async run({ api, core }) {
        const spec = { hard: { "count/configmaps": "5" } };
        const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec };
        await made(api.post(core("resourcequotas"), quota));
        await api.post(core("configmaps"), configMap("within"));
        const name = "apiserver_admission_controller_admission_duration_seconds_count";
        const labels = { name: "ResourceQuota", operation: "CREATE", type: "validate" };
        const found = await eventually(async () => {
          const all = await samples(api, name);
          return all.find((s) => Object.entries(labels).every(([k, v]) => s.labels[k] === v));
        }, name);
        expect(Object.keys(found.labels).toSorted()).toEqual(["name", "operation", "rejected", "type"]);
      },
    },
    {
      name: "metrics have the version",
      async run({ api }) {
        const [build] = await samples(api, "kubernetes_build_info");
        expect(build).toMatchObject({ value: 1, labels: { major: "1", minor: "34" } });
      },
    },
  ],
};

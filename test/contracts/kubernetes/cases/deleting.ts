import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, configMap, done, eventually, gone, made, refused } from "./shorthands.ts";

const COLLECTOR = {
  server: "kube-apiserver",
  reason: "its garbage collector and namespace controller are in kube-controller-manager",
} as const;

function options(more: Json): Json {
  return { apiVersion: "v1", kind: "DeleteOptions", ...more };
}

async function family({ api, core }: Context): Promise<void> {
  const { metadata } = (await made(api.post(core("configmaps"), configMap("owner")))) as { metadata: Json };
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata["uid"], blockOwnerDeletion: true };
  await made(api.post(core("configmaps"), configMap("child", { metadata: { ownerReferences: [owner] } })));
}

export const deleting: CaseGroup = {
  title: "deleting",
  cases: [
    {
      name: "a deletion returns Success and the deleted object",
      async run({ api, core }) {
        const body = await made(api.post(core("configmaps"), configMap("a")));
        const answer = await done(api.delete(core("configmaps", "a")));
        expect(answer).toEqual({
          kind: "Status",
          apiVersion: "v1",
          metadata: {},
          status: "Success",
          details: { name: "a", kind: "configmaps", uid: at(body, "metadata", "uid") },
        });
      },
    },
    {
      name: "a deleted object waits for its finalizers and takes no new ones",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(api.post(core("configmaps"), configMap("a", { metadata: { finalizers: ["example.com/hold"] } })));
        const marked = await done(api.delete(path));
        expect(at(marked, "metadata", "deletionTimestamp")).toEqual(expect.any(String));
        expect(at(marked, "metadata", "deletionGracePeriodSeconds")).toBe(0);
        const more = { metadata: { finalizers: ["example.com/hold", "example.com/more"] } };
        // kube-apiserver says it twice.
        refused(
          await api.patch(path, "merge", more),
          422,
          "Invalid",
          /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example\.com\/more"\}/,
        );
        await done(api.patch(path, "merge", { metadata: { finalizers: null } }));
        expect((await api.get(path)).code).toBe(404);
      },
    },
    {
      name: "a deletion with a false precondition is refused",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        const body = await made(api.post(core("configmaps"), configMap("a")));
        refused(
          await api.delete(path, options({ preconditions: { uid: "other" } })),
          409,
          "Conflict",
          `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${String(at(body, "metadata", "uid"))}). The object might have been deleted and then recreated`,
        );
        expect((await api.delete(path, options({ preconditions: { resourceVersion: "1" } }))).code).toBe(409);
        await done(api.delete(path, options({ preconditions: { uid: at(body, "metadata", "uid") } })));
      },
    },
    ...(["Orphan", "Foreground"] as const).map((propagationPolicy) => ({
      name: `propagationPolicy ${propagationPolicy} holds the object by a finalizer until the collector has been there`,
      async run({ api, core }: Context) {
        await made(api.post(core("configmaps"), configMap("a", { metadata: { finalizers: ["example.com/hold"] } })));
        const body = await done(api.delete(core("configmaps", "a"), options({ propagationPolicy })));
        const wanted = propagationPolicy === "Orphan" ? "orphan" : "foregroundDeletion";
        expect(at(body, "metadata", "finalizers")).toContain(wanted);
      },
    })),
    ...(
      [
        ["Background", 404],
        ["Foreground", 404],
        ["Orphan", 200],
      ] as const
    ).map(([propagationPolicy, code]) => ({
      name: `propagationPolicy ${propagationPolicy} ${code === 404 ? "takes dependents along" : "leaves dependents, without their owner"}`,
      except: COLLECTOR,
      async run(c: Context) {
        await family(c);
        await done(c.api.delete(c.core("configmaps", "owner"), options({ propagationPolicy })));
        await gone(c.api, c.core("configmaps", "owner"));
        if (code === 404) await gone(c.api, c.core("configmaps", "child"));
        else {
          await eventually(async () => {
            const { body } = await c.api.get(c.core("configmaps", "child"));
            return at(body, "metadata", "ownerReferences") === undefined ? true : undefined;
          });
        }
      },
    })),
    {
      name: "owners in a cycle of owner references do not wait for each other",
      except: COLLECTOR,
      async run({ api, core }) {
        const names = ["one", "two", "three"];
        const uids = new Map<string, unknown>();
        for (const name of names) {
          uids.set(name, at(await made(api.post(core("configmaps"), configMap(name))), "metadata", "uid"));
        }
        for (const [i, name] of names.entries()) {
          const owner = names.at(i - 1) ?? "";
          const reference = { apiVersion: "v1", kind: "ConfigMap", name: owner, uid: uids.get(owner) };
          const metadata = { ownerReferences: [{ ...reference, controller: true, blockOwnerDeletion: true }] };
          await done(api.patch(core("configmaps", name), "merge", { metadata }));
        }
        await done(api.delete(core("configmaps", "one"), options({ propagationPolicy: "Foreground" })));
        for (const name of names) await gone(api, core("configmaps", name));
      },
    },
    {
      name: "a deleted namespace loses its pods first, and then the rest",
      except: COLLECTOR,
      async run({ api, unique }) {
        const name = unique("ordered");
        const path = `/api/v1/namespaces/${name}`;
        await made(api.post("/api/v1/namespaces", { metadata: { name } }));
        await made(api.post(`${path}/configmaps`, configMap("a")));
        await eventually(async () =>
          (await api.get(`${path}/serviceaccounts/default`)).code === 200 ? true : undefined,
        );
        const finalizers = ["example.com/hold"];
        const spec = { containers: [{ name: "c", image: "i" }] };
        await made(api.post(`${path}/pods`, { metadata: { name: "a", finalizers }, spec }));
        await done(api.delete(path));
        await eventually(async () => {
          const { body } = await api.get(`${path}/pods/a`);
          return at(body, "metadata", "deletionTimestamp") === undefined ? undefined : true;
        });
        await new Promise((later) => setTimeout(later, 300));
        await done(api.get(`${path}/configmaps/a`));
        await done(api.patch(`${path}/pods/a`, "merge", { metadata: { finalizers: [] } }));
        await gone(api, path);
      },
    },
    {
      name: "a finalizer in a deleted namespace keeps no other object",
      except: COLLECTOR,
      async run({ api, unique }) {
        const name = unique("held");
        const path = `/api/v1/namespaces/${name}`;
        const metadata = { finalizers: ["example.com/hold"] };
        await made(api.post("/api/v1/namespaces", { metadata: { name } }));
        await made(api.post(`${path}/configmaps`, configMap("held", { metadata })));
        await made(api.post(`${path}/configmaps`, configMap("free")));
        const secret = { metadata: { name: "free" }, stringData: { a: "b" } };
        await made(api.post(`${path}/secrets`, secret));
        await done(api.delete(path));
        await gone(api, `${path}/secrets/free`);
        await gone(api, `${path}/configmaps/free`);
        await done(api.get(`${path}/configmaps/held`));
        await done(api.patch(`${path}/configmaps/held`, "merge", { metadata: { finalizers: null } }));
        await gone(api, path);
      },
    },
    {
      name: "deleting a ReplicationController orphans its pods by default",
      async run({ api, core }) {
        const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
        const body = {
          metadata: { name: "a", finalizers: ["example.com/hold"] },
          spec: { replicas: 0, selector: { a: "b" }, template },
        };
        await made(api.post(core("replicationcontrollers"), body));
        const kept = await done(api.delete(core("replicationcontrollers", "a")));
        expect(at(kept, "metadata", "finalizers")).toEqual(["example.com/hold", "orphan"]);
      },
    },
    {
      name: "deletecollection deletes by selector and returns the deleted objects",
      async run({ api, core }) {
        for (const name of ["a", "b"])
          await made(api.post(core("configmaps"), configMap(name, { metadata: { labels: { name } } })));
        const body = await done(api.delete(`${core("configmaps")}?labelSelector=name%3Da`));
        expect(body["kind"]).toBe("ConfigMapList");
        expect((body["items"] as Json[]).map((i) => at(i, "metadata", "name"))).toEqual(["a"]);
        expect((await api.get(core("configmaps", "a"))).code).toBe(404);
        expect((await api.get(core("configmaps", "b"))).code).toBe(200);
      },
    },
    {
      name: "a namespace begins to terminate, and takes nothing new",
      async run({ api, unique }) {
        const name = unique("leaving");
        const path = `/api/v1/namespaces/${name}`;
        await made(api.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } }));
        await made(
          api.post(`${path}/configmaps`, configMap("held", { metadata: { finalizers: ["example.com/hold"] } })),
        );
        const body = await done(api.delete(path));
        expect(body).toMatchObject({ status: { phase: "Terminating" }, spec: { finalizers: ["kubernetes"] } });
        const answer = await eventually(async () => {
          const tried = await api.post(`${path}/configmaps`, configMap("late"));
          if (tried.code === 403) return tried;
          await api.delete(`${path}/configmaps/late`);
          return undefined;
        });
        refused(
          answer,
          403,
          "Forbidden",
          `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        );
        expect(at(answer.body, "details", "causes")).toEqual([
          {
            reason: "NamespaceTerminating",
            message: `namespace ${name} is being terminated`,
            field: "metadata.namespace",
          },
        ]);
      },
    },
    {
      name: "a namespace takes its contents along",
      except: COLLECTOR,
      async run({ api, unique }) {
        const name = unique("leaving");
        const path = `/api/v1/namespaces/${name}`;
        await made(api.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } }));
        await made(api.post(`${path}/configmaps`, configMap("a")));
        await done(api.delete(path));
        await gone(api, path);
      },
    },
    {
      name: "a namespace has its name as a label, and a phase",
      async run({ api, namespace }) {
        const body = await done(api.get(`/api/v1/namespaces/${namespace}`));
        expect(body).toMatchObject({
          metadata: { labels: { "kubernetes.io/metadata.name": namespace } },
          spec: { finalizers: ["kubernetes"] },
          status: { phase: "Active" },
        });
      },
    },
  ],
};

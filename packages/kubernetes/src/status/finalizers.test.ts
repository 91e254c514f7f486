import { CausewayError } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import type { JsonPatchOperation, KubernetesClient, Patch } from "../client/interface.ts";
import { ConfigMap } from "../types/core.ts";
import { addFinalizer, removeFinalizer } from "./finalizers.ts";

type Metadata = ConfigMap["metadata"];

/** One object on a server that applies JSON patches of finalizers as a kube-apiserver does: all or nothing. */
function world(finalizers: string[] | undefined, more: Partial<Metadata> = {}) {
  const state = { revision: 5, gone: false, patches: 0, finalizers, uid: "u" };
  const object = (): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace: "n",
      name: "a",
      uid: state.uid,
      resourceVersion: String(state.revision),
      ...(state.finalizers ? { finalizers: [...state.finalizers] } : {}),
      ...more,
    },
  });
  const get = () =>
    state.gone ? Promise.reject(new CausewayError("KUBERNETES_NOT_FOUND", "gone")) : Promise.resolve(object());
  const patch = async (_type: unknown, _key: unknown, { body }: Extract<Patch, { type: "json" }>) => {
    state.patches++;
    const { metadata } = await get();
    for (const step of body) {
      if (step.op === "test" && !holds(metadata, step)) throw new CausewayError("KUBERNETES_INVALID", "test failed");
      if (step.op === "add") state.finalizers = [...(metadata.finalizers ?? []), ...[step.value as string].flat()];
      if (step.op === "remove") state.finalizers = metadata.finalizers?.toSpliced(Number(step.path.split("/")[3]), 1);
    }
    state.revision++;
    return object();
  };
  return { state, object, client: { get, patch } as unknown as KubernetesClient };
}

function holds(metadata: Metadata, step: JsonPatchOperation): boolean {
  let value: unknown = { metadata };
  for (const part of step.path.split("/").slice(1)) value = (value as Record<string, unknown> | undefined)?.[part];
  return value === step.value;
}

describe("a finalizer", () => {
  test("is added to none, and to others", async () => {
    for (const others of [undefined, ["other"]]) {
      const { client, object } = world(others);
      const after = await addFinalizer(client, ConfigMap, object(), { finalizer: "mine" });
      expect(after.metadata.finalizers).toEqual([...(others ?? []), "mine"]);
    }
  });

  test("that is there already costs no call; nor does one that may no longer be added", async () => {
    const there = world(["mine"]);
    await addFinalizer(there.client, ConfigMap, there.object(), { finalizer: "mine" });
    const dying = world(["other"], { deletionTimestamp: "2026-01-01T00:00:00Z" });
    await addFinalizer(dying.client, ConfigMap, dying.object(), { finalizer: "mine" });
    await removeFinalizer(dying.client, ConfigMap, dying.object(), { finalizer: "mine" });
    expect([there.state.patches, dying.state.patches]).toEqual([0, 0]);
  });

  test("is added without losing one that another writer has added since", async () => {
    const { client, object, state } = world(undefined);
    const read = object();
    Object.assign(state, { finalizers: ["other"], revision: 6 });
    await addFinalizer(client, ConfigMap, read, { finalizer: "mine" });
    expect(state.finalizers).toEqual(["other", "mine"]);
  });

  test("is removed although another writer has moved it in the list", async () => {
    const { client, object, state } = world(["other", "mine"]);
    const read = object();
    Object.assign(state, { finalizers: ["mine", "third"], revision: 6 });
    await removeFinalizer(client, ConfigMap, read, { finalizer: "mine" });
    expect(state.finalizers).toEqual(["third"]);
  });

  test("needs no removal from an object that is gone, nor from another of the same name", async () => {
    const gone = world(["mine"]);
    const read = gone.object();
    gone.state.gone = true;
    expect(await removeFinalizer(gone.client, ConfigMap, read, { finalizer: "mine" })).toBeUndefined();
    const again = world(["mine"]);
    const old = again.object();
    again.state.uid = "another";
    expect(await removeFinalizer(again.client, ConfigMap, old, { finalizer: "mine" })).toBeUndefined();
    expect(again.state.finalizers).toEqual(["mine"]);
  });
});

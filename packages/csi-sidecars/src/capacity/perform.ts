import { isAlreadyExists, isConflict, isNotFound, keyOf } from "@causeway/kubernetes";
import { fieldManager, type Context } from "../context.ts";
import { CSIStorageCapacity } from "./object.ts";
import type { Step } from "./steps.ts";

/** Writes one CSIStorageCapacity. A lost race is no error: the next round reads the objects again. */
export async function perform({ informers }: Context, { type, object }: Step, signal: AbortSignal): Promise<void> {
  const { client } = informers;
  switch (type) {
    case "create":
      await client.create(CSIStorageCapacity, object, { fieldManager, signal }).catch(unless(isAlreadyExists));
      return;
    case "update":
      await client.update(CSIStorageCapacity, object, { fieldManager, signal }).catch(unless(isConflict, isNotFound));
      return;
    case "delete": {
      const { uid } = object.metadata;
      const options = { ...(uid !== undefined && { preconditions: { uid } }), signal };
      await client.delete(CSIStorageCapacity, keyOf(object), options).catch(unless(isNotFound, isConflict));
      return;
    }
  }
}

/** Another process did it: the next reading shows the result. */
const unless =
  (...tests: readonly ((error: unknown) => boolean)[]) =>
  (error: unknown): void => {
    if (!tests.some((test) => test(error))) throw error;
  };

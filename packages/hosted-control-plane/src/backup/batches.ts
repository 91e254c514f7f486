import { base64 } from "@causeway/foundation";
import type { Value } from "./datastore.ts";

/** Operations and bytes of one transaction, below etcd's own limits (128 and 1.5 MiB). */
export const OPERATIONS = 100;
const BYTES = 1_000_000;

/** Keys and values by transactions, in their order. */
export function* batches(values: readonly Value[]): Iterable<Value[]> {
  let [batch, size]: [Value[], number] = [[], 0];
  for (const value of values) {
    const bytes = value.key.length + value.value.length;
    if (batch.length > 0 && (batch.length >= OPERATIONS || size + bytes > BYTES)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(value);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}

/** The operation that writes one key below a prefix. */
export function putOf(prefix: string, { key, value }: Value): object {
  return { request_put: { key: base64(prefix + key), value } };
}

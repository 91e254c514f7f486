import type { Clock } from "@causeway/foundation";
import type { KmsService } from "@causeway/kms";

/** A result is given again for this long (ms): who asks often must not send requests to Barbican. */
const HELD = 5_000;

/** The health of the plugin in words, as its Status says: "ok", or what is wrong. */
export function healthOf(service: KmsService, clock: Clock): () => Promise<string> {
  let last: { readonly at: number; readonly result: Promise<string> } | undefined;
  return () => {
    if (last === undefined || clock.now() >= last.at + HELD)
      last = { at: clock.now(), result: service.status().then(({ healthz }) => healthz) };
    return last.result;
  };
}

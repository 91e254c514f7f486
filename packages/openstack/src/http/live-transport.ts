import type { Log } from "@causeway/foundation";
import type { LiveConfig } from "../config/live-config.ts";
import { isCertificateProblem } from "../errors/network-error.ts";
import { createTransport, type HttpRequest, type Transport } from "./transport.ts";

/**
 * Connections that follow the config: after a change, new calls go over new connections while the old ones end what
 * they have begun. A call whose connection failed over a certificate is sent again if the config has changed since.
 */
export function createLiveTransport(config: LiveConfig, options: { log: Log; connections: number }): Transport {
  let made = config.changes;
  let transport = createTransport(config.current.tls, options.connections);
  const current = (): Transport => {
    if (made === config.changes) return transport;
    made = config.changes;
    try {
      const next = createTransport(config.current.tls, options.connections);
      void transport.drain();
      transport = next;
    } catch (error) {
      options.log.warn("the cloud's new certificates cannot be read; the old ones are kept", { error });
    }
    return transport;
  };
  return {
    async send(request) {
      try {
        return await current().send(request);
      } catch (error) {
        if (!isCertificateProblem(error) || !isRepeatable(request) || !config.refresh()) throw error;
        return await current().send(request);
      }
    },
    drain: () => transport.drain(),
    close: () => transport.close(),
  };
}

/** A stream may have been read from already. */
function isRepeatable({ body }: HttpRequest): boolean {
  return body === undefined || typeof body === "string" || body instanceof Uint8Array;
}

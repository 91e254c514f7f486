import { createSecureContext, type SecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import type { ClusterConfig } from "../config/interface.ts";
import type { Credentials } from "./credentials.ts";

/** Of all connections with these credentials: they share one context of TLS, which takes some 60 KiB. */
export function tlsOptions(config: ClusterConfig, { certificate, key }: Credentials): Record<string, unknown> {
  let context: SecureContext | undefined;
  return {
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    ...(config.insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
    ...(config.tlsServerName === undefined ? {} : { servername: config.tlsServerName }),
    // Made for the first request, whose error a bad certificate is.
    get secureContext() {
      context ??= createSecureContext({
        ...(config.ca === undefined ? {} : { ca: config.ca }),
        ...(certificate === undefined ? {} : { cert: certificate, key }),
      });
      return context;
    },
  };
}

/**
 * Drops the headers as they came, once they are read: they are pieces of the 64 KiB that were received with them,
 * which a watch would keep for as long as it lasts.
 */
export function forgetRawHeaders(dispatch: Dispatcher["dispatch"]): Dispatcher["dispatch"] {
  return (options, handler) =>
    dispatch(options, {
      onRequestStart: (...args) => handler.onRequestStart?.(...args),
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart(...args) {
        handler.onResponseStart?.(...args);
        args[0].rawHeaders = null;
      },
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
}

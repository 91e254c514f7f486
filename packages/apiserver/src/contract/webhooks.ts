import type { Json } from "../json/json.ts";

/** Where a webhook is: admissionregistration.k8s.io/v1 and apiextensions.k8s.io/v1 WebhookClientConfig. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    /** Default 443. */
    readonly port?: number;
  };
  /** PEM in base64; the system's roots when absent. */
  readonly caBundle?: string;
}

/** The bounds of one call to a webhook. */
export interface WebhookCallOptions {
  /** Milliseconds until the call is given up. */
  readonly timeout: number;
  /** How many bytes the answer may have at most; default 32 MiB, since a converted list may be long. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Calls the webhooks of one logical cluster. */
export interface WebhookClient {
  /**
   * POSTs `body` as JSON and answers the JSON that came back. No credential is sent, no redirect followed; connections
   * are kept. Throws WEBHOOK_CALL_FAILED, whose message is what kube-apiserver says after "failed to call webhook: ".
   */
  call(config: WebhookClientConfig, body: Json, options: WebhookCallOptions): Promise<Json>;
  /** Closes all connections. */
  close(): void;
}

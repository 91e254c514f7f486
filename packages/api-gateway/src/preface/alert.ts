/** Alerts of TLS that a client is sent before its connection ends (RFC 8446 §6). */
export const alerts = {
  unexpectedMessage: 10,
  recordOverflow: 22,
  illegalParameter: 47,
  /** Of the gateway: the tenant's control plane hibernates. */
  accessDenied: 49,
  decodeError: 50,
  protocolVersion: 70,
  /** Of the gateway: the tenant's API server cannot be reached, or a limit is exceeded. */
  internalError: 80,
  /** There is no server name. */
  missingExtension: 109,
  /** No tenant has this server name. */
  unrecognizedName: 112,
} as const;

/** The description of an alert. */
export type Alert = (typeof alerts)[keyof typeof alerts];

const ALERT = 21;
const FATAL = 2;

/** A record with one fatal alert, of the version that every client accepts before one is agreed on. */
export function alertRecord(alert: Alert): Buffer {
  return Buffer.from([ALERT, 3, 3, 0, 2, FATAL, alert]);
}

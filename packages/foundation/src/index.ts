export { CausewayError, hasCode, isAborted, messageOf, type ErrorContext } from "./errors.ts";
export { systemClock, VirtualClock, type Clock } from "./clock.ts";
export { createLog, silentLog, type Log, type LogFields, type LogLevel } from "./log.ts";
export type { CertificateOptions, CertificateSubject, KeyPair } from "./pki-interface.ts";
export {
  createAuthority,
  createRequest,
  issueCertificate,
  publicKeyHash,
  readCertificate,
  readRequest,
  signRequest,
  verifyChain,
  type CertificateFacts,
} from "./pki.ts";

export { CausewayError, hasCode, InputError, isAborted, messageOf, type ErrorContext } from "./errors.ts";
export { systemClock, VirtualClock, type Clock } from "./clock.ts";
export { LimitExceeded, parseBoundedJson, readBeginning, readBounded, readLines } from "./bounded.ts";
export { dialRefusal, type DialRules } from "./dial-rules.ts";
export { reachWithin, type Reach } from "./reach.ts";
export { refuseInformational, refuseOddResponses } from "./refuse-odd-responses.ts";
export type { ResolveAll } from "./resolve-names.ts";
export { goYamlTags } from "./go-yaml.ts";
export { readTextFile } from "./files.ts";
export { followCertificate, type FollowedCertificate } from "./follow-certificate.ts";
export { canonicalJson, copyJson, isRecord } from "./json.ts";
export { unlessAborted, whenAborted } from "./abort.ts";
export { createLog, silentLog, type Log, type LogFields, type LogLevel } from "./log.ts";
export type { CertificateOptions, CertificateSubject, KeyPair } from "./pki-interface.ts";
export { readCertificate, type CertificateFacts } from "./certificates.ts";
export {
  isCertificateFor,
  parseCertificate,
  publicKeyHash,
  readValidity,
  splitCertificates,
  verifyChain,
  verifyIssuer,
} from "./parsed-certificates.ts";
export {
  createAuthority,
  createRequest,
  issueCertificate,
  readRequest,
  requestsAuthority,
  signRequest,
} from "./pki.ts";
export { signAsRequested } from "./pki-requested.ts";
export { steadyPorts } from "./steady-ports.ts";
export { backoff, retry, type Backoff, type BackoffOptions, type RetryOptions } from "./retry.ts";
export {
  createMetrics,
  type CounterMetric,
  type GaugeMetric,
  type HistogramMetric,
  type MetricLabels,
  type MetricOptions,
  type Metrics,
} from "./metrics.ts";
export { createSmallMetrics } from "./small-metrics.ts";
export {
  canonicalIp,
  cidrContains,
  cidrSize,
  cidrsOverlap,
  compareIps,
  formatCidr,
  formatIp,
  nthAddress,
  parseCidr,
  parseIp,
  type Cidr,
  type IpAddress,
} from "./ip.ts";
export { iniBoolean, iniSection, iniText, iniTexts, parseIni, type IniSection, type IniValue } from "./ini.ts";
export {
  asLocalhost,
  fitsUnixSocket,
  isServed,
  removeStaleSocket,
  socketFailure,
  type SocketFailure,
} from "./unix-socket.ts";
export { editDistance } from "./edit-distance.ts";
export { base64 } from "./base64.ts";
export { shortened, shortList, type ShortList } from "./short-list.ts";
export { suggestion } from "./suggestion.ts";

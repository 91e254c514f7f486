/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The names, addresses and usages of a certificate. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** For whom and for how long a certificate is issued, and by which authority. */
export interface CertificateOptions extends CertificateSubject {
  readonly usages: readonly ("client" | "server")[];
  /** Lifetime in milliseconds from `now`. */
  readonly lifetime: number;
  /** Milliseconds since the epoch. Certificates are valid from five minutes before. */
  readonly now?: number;
}

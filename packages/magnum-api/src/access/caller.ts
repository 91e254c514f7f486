/** Who sends a request, as Keystone describes the token. */
export interface Caller {
  readonly userId: string;
  readonly userName: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly domainId: string;
  readonly roles: readonly string[];
  /** True for a token of an application credential, which may not create another one unless it is unrestricted. */
  readonly ofApplicationCredential: boolean;
  /** A secret. */
  readonly token: string;
}

/**
 * Flags whose values other users of the host would see in a process's arguments, and the variables that represent them.
 */
export const SECRET_VARIABLES = {
  password: "CAUSEWAY_KEYSTONE_PASSWORD",
  applicationCredentialSecret: "CAUSEWAY_KEYSTONE_APPLICATION_CREDENTIAL_SECRET",
} as const;

/** Of the cluster that is migrated. */
export const UUID = "6e8ae3a5-0b4c-4f0e-9d26-000000000001";
export const VERSION = "v1.34.4";

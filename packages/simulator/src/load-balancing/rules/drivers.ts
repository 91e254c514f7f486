/** Both amphora names drive the same provider. */
export const driverOf = (provider: string): "ovn" | "amphora" => (provider === "ovn" ? "ovn" : "amphora");

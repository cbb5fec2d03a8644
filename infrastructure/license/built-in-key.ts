/**
 * Public Ed25519 key that verifies licenses: base64url of its 32 raw bytes. In development `SVC_LICENSE_PUBLIC_KEY`
 * overrides it.
 */
export const BUILT_IN_LICENSE_KEY = 'JuqyQi93_1Xx3a6hef8g9PEr4H5c3cn-GNr4ITWapOk';

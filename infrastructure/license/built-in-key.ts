/** Public half of the key that signs licenses: base64url of the 32 raw Ed25519 bytes. Development replaces it by `SVC_LICENSE_PUBLIC_KEY`. */
export const BUILT_IN_LICENSE_KEY = 'JuqyQi93_1Xx3a6hef8g9PEr4H5c3cn-GNr4ITWapOk';

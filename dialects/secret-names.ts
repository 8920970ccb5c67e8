/** The elements of cXML whose content is a secret. Senders write them in capital and small letters. */
export const cxmlSecretNames: readonly string[] = ['SharedSecret', 'DigitalSignature', 'CredentialMac']

/** The elements of UBL whose content is the number of a card or its security code. */
export const ublSecretNames: readonly string[] = ['PrimaryAccountNumberID', 'CV2ID']

/** The element of cXML with the number of a card, in its attribute `number`. */
export const cardName = 'PCard'

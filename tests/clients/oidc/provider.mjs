// A certified OpenID provider on loopback with two people. Arguments: its port, and where it may lead back to.
// Its own development pages ask for a name and for consent.
import { Provider } from 'oidc-provider';

const [port, redirectUri] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const groups = { ann: ['staff', 'ops'], ben: ['staff'] };

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'gazer',
      client_secret: 'a-client-secret-of-the-test-with-32-characters',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email'], groups: ['groups'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: `${id}@example`, email: `${id}@example`, groups: groups[id] ?? [] }),
  }),
  cookies: { keys: ['a-key-of-the-test'] },
  jwks: undefined,
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));

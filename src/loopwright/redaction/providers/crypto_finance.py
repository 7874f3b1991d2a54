"""Credentials of exchanges, market data, block chain nodes and wallets."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers.parts import UUID, UUID_EXAMPLE, assigned, given, named, spellings

RULES: tuple[SecretRule, ...] = (
    SecretRule(
        id="coinbase-api-secret",
        provider="Coinbase",
        keywords=("coinbase",),
        pattern=named(r"coinbase[a-z0-9_. -]{0,20}secret", r"[A-Za-z0-9]{32}|[A-Za-z0-9+/]{86}=="),
        hits=("COINBASE_API_SECRET=<alnum:32>", "COINBASE_SECRET=<base64:86>=="),
        misses=("COINBASE_API_SECRET=<alnum:8>", "COINBASE_API_SECRET=$SECRET", "coinbase: <alnum:32>"),
    ),
    SecretRule(
        id="binance-api-secret",
        provider="Binance",
        keywords=("binance",),
        pattern=assigned("binance", r"[A-Za-z0-9]{64}"),
        hits=("BINANCE_API_SECRET=<alnum:64>", "binance_api_key: '<alnum:64>'"),
        misses=("BINANCE_API_SECRET=<alnum:8>", "BINANCE_API_SECRET=$SECRET", "binance tx <alnum:64>"),
    ),
    SecretRule(
        id="kraken-private-key",
        provider="Kraken",
        keywords=("kraken",),
        pattern=assigned("kraken", r"[A-Za-z0-9+/]{86}=="),
        hits=("KRAKEN_API_SECRET=<base64:86>==",),
        misses=("KRAKEN_API_SECRET=<base64:8>", "KRAKEN_API_SECRET=$SECRET", "kraken: <base64:86>=="),
    ),
    SecretRule(
        id="kucoin-api-secret",
        provider="KuCoin",
        keywords=("kucoin",),
        pattern=named(r"kucoin[a-z0-9_. -]{0,20}secret", UUID),
        hits=("KUCOIN_API_SECRET=" + UUID_EXAMPLE,),
        misses=("KUCOIN_API_SECRET=<hex:8>", "KUCOIN_ORDER=" + UUID_EXAMPLE, "KUCOIN_API_SECRET=$SECRET"),
    ),
    SecretRule(
        id="coinmarketcap-api-key",
        provider="CoinMarketCap",
        keywords=("coinmarketcap", *spellings("cmc_pro_api_key", "cmc_api_key")),
        pattern=named(r"coinmarketcap[a-z0-9_. -]{0,20}key|(?:x[_. -]?)?(?:cmc_api_key|cmc_pro_api_key)", UUID),
        hits=("X-CMC_PRO_API_KEY: " + UUID_EXAMPLE, "COINMARKETCAP_API_KEY=" + UUID_EXAMPLE),
        misses=("COINMARKETCAP_API_KEY=<hex:8>", "CMC_API_KEY=$KEY", "coinmarketcap " + UUID_EXAMPLE),
    ),
    SecretRule(
        id="coingecko-api-key",
        provider="CoinGecko",
        keywords=("coingecko", *spellings("x_cg_")),
        pattern=named(r"(?:coingecko|x[_. -]?cg[_. -]?)[a-z0-9_. -]{0,20}key", r"CG-[A-Za-z0-9]{24}"),
        hits=(
            "COINGECKO_API_KEY=CG-<alnum:24>",
            "x-cg-demo-api-key: CG-<alnum:24>",
            "?x_cg_pro_api_key=CG-<alnum:24>",
        ),
        misses=("COINGECKO_API_KEY=CG-<alnum:8>", "x_cg_demo_api_key=YOUR_KEY", "CG-<alnum:24>"),
    ),
    SecretRule(
        id="etherscan-api-key",
        provider="Etherscan",
        keywords=("etherscan", "bscscan", "polygonscan"),
        pattern=assigned("etherscan|bscscan|polygonscan", r"[A-Z0-9]{34}"),
        hits=("ETHERSCAN_API_KEY=<uppernum:34>", "bscscan_key: <uppernum:34>"),
        misses=("ETHERSCAN_API_KEY=<uppernum:8>", "ETHERSCAN_API_KEY=$KEY", "etherscan <uppernum:34>"),
    ),
    SecretRule(
        id="infura-project-key",
        provider="Infura",
        keywords=("infura",),
        pattern=(
            rf"(?:\binfura\.io/(?:ws/)?v3/|{given('infura[a-z0-9_. -]{0,20}(?:key|secret|project_id)')})([0-9a-f]{{32}})\b"
        ),
        hits=(
            "https://mainnet.infura.io/v3/<hex:32>",
            "INFURA_API_KEY=<hex:32>",
            "wss://mainnet.infura.io/ws/v3/<hex:32>",
        ),
        misses=(
            "https://mainnet.infura.io/v3/YOUR-PROJECT-ID",
            "INFURA_API_KEY=<hex:8>",
            "https://docs.infura.io",
        ),
    ),
    SecretRule(
        id="alchemy-api-key",
        provider="Alchemy",
        keywords=("alchemy.com/v2/", "alchemyapi.io/v2/", *spellings("alchemy_api_key")),
        pattern=(
            rf"(?:\balchemy\.com/v2/|\balchemyapi\.io/v2/|{given('alchemy_api_key')})"
            r"([A-Za-z0-9_-]{32})(?:[^A-Za-z0-9_-]|$)"
        ),
        hits=("https://eth-mainnet.g.alchemy.com/v2/<base64url:32>", "ALCHEMY_API_KEY=<base64url:32>"),
        misses=(
            "https://eth-mainnet.g.alchemy.com/v2/your-api-key",
            "ALCHEMY_API_KEY=$KEY",
            "sqlalchemy.com/v2/docs",
        ),
    ),
    SecretRule(
        id="quicknode-endpoint-token",
        provider="QuickNode",
        keywords=("quiknode.pro",),
        pattern=r"\bquiknode\.pro/([0-9a-f]{40})\b",
        hits=("https://some-name.quiknode.pro/<hex:40>/",),
        misses=("https://some-name.quiknode.pro/<hex:8>/", "https://some-name.quiknode.pro/YOUR_TOKEN/"),
    ),
    SecretRule(
        id="tatum-api-key",
        provider="Tatum",
        keywords=("tatum",),
        pattern=assigned("tatum", r"t-[0-9a-f]{24}-[0-9a-f]{24}"),
        hits=("TATUM_API_KEY=t-<hex:24>-<hex:24>",),
        misses=("TATUM_API_KEY=t-<hex:8>", "TATUM_API_KEY=$KEY", "datatum_key=t-<hex:8>"),
    ),
    SecretRule(
        id="ethereum-private-key",
        provider="Ethereum",
        keywords=spellings("private_key"),
        pattern=named(r"[a-z0-9]{0,20}private_key", r"(?:0x)?[0-9a-fA-F]{64}"),
        hits=("PRIVATE_KEY=0x<hex:64>", "DEPLOYER_PRIVATE_KEY=<hex:64>", '"privateKey": "0x<hex:64>"'),
        misses=(
            "PRIVATE_KEY=0x<hex:40>",
            "PRIVATE_KEY=$PRIVATE_KEY",
            "sha256: <hex:64>",
            "private_key_file=/etc/key.pem",
        ),
    ),
    SecretRule(
        id="bitcoin-wif-private-key",
        provider="Bitcoin",
        keywords=("wif", "privkey", *spellings("private_key")),
        pattern=named(
            r"[a-z0-9]{0,20}(?:wif|private_key|privkey)", r"(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KL][1-9A-HJ-NP-Za-km-z]{51})"
        ),
        hits=("BITCOIN_WIF=K<base58:51>", "private_key: 5<base58:50>", "privkey = L<base58:51>"),
        misses=("BITCOIN_WIF=K<base58:8>", "private_key: 1<base58:33>", "wif=$WIF"),
    ),
    SecretRule(
        id="bip32-extended-private-key",
        provider="Bitcoin",
        keywords=("xprv", "yprv", "zprv"),
        pattern=r"\b[xyz]prv[1-9A-HJ-NP-Za-km-z]{107}\b",
        hits=("xprv<base58:107>", "descriptor: wpkh(zprv<base58:107>/84h/0h/0h)", "yprv<base58:107>"),
        misses=("xprv<base58:20>", "xpub<base58:107>", "axprv<base58:107>"),
    ),
    SecretRule(
        id="stellar-secret-seed",
        provider="Stellar",
        keywords=("stellar", "soroban"),
        pattern=assigned("stellar|soroban", r"S[A-Z2-7]{55}"),
        hits=("STELLAR_SECRET=S<base32:55>", "soroban_secret_key: S<base32:55>"),
        misses=("STELLAR_PUBLIC_KEY=G<base32:55>", "STELLAR_SECRET=S<base32:8>", "STELLAR_SECRET=$SECRET"),
    ),
    SecretRule(
        id="nostr-secret-key",
        provider="Nostr",
        keywords=("nsec1",),
        pattern=r"\bnsec1[a-z0-9]{58}\b",
        hits=("NOSTR_KEY=nsec1<lowernum:58>",),
        misses=("nsec1<lowernum:8>", "npub1<lowernum:58>", "insec1<lowernum:58>"),
    ),
    SecretRule(
        id="finnhub-api-key",
        provider="Finnhub",
        keywords=("finnhub",),
        pattern=assigned("finnhub", r"[a-z0-9]{20}(?:[a-z0-9]{20})?"),
        hits=("FINNHUB_API_KEY=<lowernum:20>", "finnhub_token: <lowernum:40>"),
        misses=("FINNHUB_API_KEY=<lowernum:8>", "FINNHUB_API_KEY=$KEY", "finnhub quote <lowernum:20>"),
    ),
    SecretRule(
        id="alphavantage-api-key",
        provider="Alpha Vantage",
        keywords=spellings("alpha_vantage"),
        pattern=assigned("alpha_vantage", r"[A-Z0-9]{16}"),
        hits=("ALPHAVANTAGE_API_KEY=<uppernum:16>", "alpha_vantage_key: <uppernum:16>"),
        misses=(
            "ALPHAVANTAGE_API_KEY=demo",
            "ALPHAVANTAGE_API_KEY=<uppernum:8>",
            "alphavantage <uppernum:16>",
        ),
    ),
    SecretRule(
        id="alpaca-secret-key",
        provider="Alpaca",
        keywords=("alpaca", "apca"),
        pattern=named(r"(?:alpaca|apca)[a-z0-9_. -]{0,20}secret", r"[A-Za-z0-9]{40,44}"),
        hits=(
            "APCA_API_SECRET_KEY=<alnum:40>",
            "alpaca_secret: '<alnum:40>'",
            "APCA-API-SECRET-KEY: <alnum:40>",
        ),
        misses=("APCA_API_KEY_ID=PK<uppernum:18>", "ALPACA_SECRET=<alnum:8>", "ALPACA_SECRET=$SECRET"),
    ),
    SecretRule(
        id="oanda-api-token",
        provider="OANDA",
        keywords=("oanda",),
        pattern=assigned("oanda", r"[0-9a-f]{32}-[0-9a-f]{32}"),
        hits=("OANDA_API_TOKEN=<hex:32>-<hex:32>",),
        misses=("OANDA_API_TOKEN=<hex:32>", "OANDA_API_TOKEN=$TOKEN", "<hex:32>-<hex:32>"),
    ),
    SecretRule(
        id="mercury-api-token",
        provider="Mercury",
        keywords=("secret-token:mercury_",),
        pattern=r"\bsecret-token:mercury_[a-z]{3,12}_[a-z]{2,5}_[A-Za-z0-9]{30,80}_yrucrem\b",
        hits=("MERCURY_TOKEN=secret-token:mercury_production_wma_<alnum:44>_yrucrem",),
        misses=("secret-token:mercury_production", "secret-token:mercury_sandbox_rma_<alnum:8>_yrucrem"),
    ),
)

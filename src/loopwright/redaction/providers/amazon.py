"""Credentials of Amazon: AWS, Bedrock, Login with Amazon, Marketplace Web Service."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers.parts import UUID, UUID_EXAMPLE, named, spellings

RULES: tuple[SecretRule, ...] = (
    SecretRule(
        id="aws-access-key-id",
        provider="AWS",
        keywords=("akia",),
        pattern=r"\bAKIA[A-Z2-7]{16}\b",
        hits=("aws_access_key_id = AKIA<base32:16>", '"AccessKeyId": "AKIA<base32:16>"'),
        misses=("aws_access_key_id = AKIA<base32:12>", "SAKIA<base32:16>", "AKIA<lower:16>", "AKIA${SUFFIX}"),
    ),
    SecretRule(
        id="aws-temporary-access-key-id",
        provider="AWS",
        keywords=("asia",),
        pattern=r"\bASIA[A-Z2-7]{16}\b",
        hits=(
            "AWS_ACCESS_KEY_ID=ASIA<base32:16>",
            "Credential=ASIA<base32:16>/20260101/us-east-1/s3/aws4_request",
        ),
        misses=("region ASIA_SOUTHEAST_1", "ASIA<base32:10>", "EURASIA<base32:16>", "ASIA<lower:16>"),
    ),
    SecretRule(
        id="aws-bearer-or-context-key-id",
        provider="AWS",
        keywords=("abia", "acca"),
        pattern=r"\bA(?:BIA|CCA)[A-Z2-7]{16}\b",
        hits=("key: ABIA<base32:16>", "key: ACCA<base32:16>"),
        misses=("ACCA<base32:9>", "ABIA<lower:16>", "ARABIA<base32:16>"),
    ),
    SecretRule(
        id="aws-secret-access-key",
        provider="AWS",
        keywords=("aws", *spellings("secret_access_key")),
        pattern=named(r"aws[a-z0-9_. -]{0,20}(?:secret|key)|secret_access_key", r"[A-Za-z0-9/+]{40}"),
        hits=(
            "AWS_SECRET_ACCESS_KEY=<base64:40>",
            'aws_key = "<base64:40>"',
            '"SecretAccessKey": "<base64:40>"',
            'os.environ["AWS_SECRET_ACCESS_KEY"] = "<base64:40>"',
            r"{\"aws_secret_access_key\": \"<base64:40>\"}",
        ),
        misses=(
            "AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY}",
            "aws_secret_access_key = <base64:20>",
            "commit <hex:40> of aws-secret-rotation",
            "aws_key = AKIA<base32:12>",
            "AWS_SECRET_ACCESS_KEY=<your-secret-access-key>",
        ),
    ),
    SecretRule(
        id="aws-session-token",
        provider="AWS",
        keywords=("iqojb3jpz2lu", "fwogzxivyxdz", "fqogzxivyxdz"),
        pattern=r"\b(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9/+=%]{100,}",
        hits=("AWS_SESSION_TOKEN=IQoJb3JpZ2lu<base64:300>", "FwoGZXIvYXdz<base64:200>=="),
        misses=(
            "AWS_SESSION_TOKEN=IQoJb3JpZ2lu<base64:20>",
            "AWS_SESSION_TOKEN=<your-session-token>",
            "<base64:300>",
        ),
    ),
    SecretRule(
        id="aws-bedrock-api-key",
        provider="AWS Bedrock",
        keywords=("abskqmvkcm9ja0fqsutles",),
        pattern=r"\bABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/]{80,300}={0,2}",
        hits=("AWS_BEARER_TOKEN_BEDROCK=ABSKQmVkcm9ja0FQSUtleS<base64:109>=",),
        misses=("ABSKQmVkcm9ja0FQSUtleS", "ABSK<base64:30>", "AWS_BEARER_TOKEN_BEDROCK=$BEDROCK_KEY"),
    ),
    SecretRule(
        id="aws-bedrock-short-term-key",
        provider="AWS Bedrock",
        keywords=("bedrock-api-key-",),
        pattern=r"\bbedrock-api-key-[A-Za-z0-9+/]{60,}={0,2}",
        hits=("AWS_BEARER_TOKEN_BEDROCK=bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t<base64:400>=",),
        misses=(
            "bedrock-api-key-rotation",
            "bedrock-api-key-<alnum:30>",
            "use a bedrock-api-key-generator-for-python-projects",
        ),
    ),
    SecretRule(
        id="aws-appsync-api-key",
        provider="AWS AppSync",
        keywords=("da2-",),
        pattern=r"\bda2-[a-z0-9]{26}\b",
        hits=("x-api-key: da2-<lowernum:26>",),
        misses=("da2-<lowernum:12>", "panda2-<lowernum:26>", "da2-<lowernum:40>"),
    ),
    SecretRule(
        id="aws-ses-smtp-password",
        provider="AWS SES",
        keywords=spellings("smtp_password"),
        pattern=named("smtp_password|ses_smtp_password", r"B[A-Za-z0-9+/]{43}"),
        hits=("SES_SMTP_PASSWORD=B<base64:43>", '"smtpPassword": "B<base64:43>"'),
        misses=(
            "SMTP_PASSWORD=B<base64:20>",
            "SMTP_PASSWORD=$SMTP_PASSWORD",
            "smtp_password: <your-smtp-password>",
        ),
    ),
    SecretRule(
        id="aws-presigned-url-signature",
        provider="AWS",
        keywords=("x-amz-signature",),
        pattern=r"\bX-Amz-Signature=([0-9a-f]{64})\b",
        hits=("https://b.s3.amazonaws.com/k?X-Amz-SignedHeaders=host&X-Amz-Signature=<hex:64>",),
        misses=(
            "X-Amz-Signature=<hex:20>",
            "X-Amz-Signature=${signature}",
            "the X-Amz-Signature parameter: <hex:64>",
        ),
    ),
    SecretRule(
        id="amazon-mws-auth-token",
        provider="Amazon MWS",
        keywords=("amzn.mws.",),
        pattern=r"\bamzn\.mws\." + UUID + r"\b",
        hits=("MWSAuthToken=amzn.mws." + UUID_EXAMPLE,),
        misses=("amzn.mws.<hex:8>", "import com.amzn.mws.client", UUID_EXAMPLE),
    ),
    SecretRule(
        id="amazon-login-client-secret",
        provider="Login with Amazon",
        keywords=("amzn1.oa2-cs.v1.",),
        pattern=r"\bamzn1\.oa2-cs\.v1\.[0-9a-f]{64}\b",
        hits=("LWA_CLIENT_SECRET=amzn1.oa2-cs.v1.<hex:64>",),
        misses=("amzn1.oa2-cs.v1.<hex:32>", "amzn1.application-oa2-client.<hex:32>"),
    ),
    SecretRule(
        id="amazon-login-token",
        provider="Login with Amazon",
        keywords=("atzr|", "atza|"),
        pattern=r"\bAtz[ar]\|[A-Za-z0-9_-]{100,}",
        hits=("refresh_token=Atzr|<base64url:300>", '"access_token":"Atza|<base64url:200>"'),
        misses=("refresh_token=Atzr|...", "Atza|<base64url:20>", "Atzr|<your refresh token>"),
    ),
)
